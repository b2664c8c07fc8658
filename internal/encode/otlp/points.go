package otlp

// metricData are the fields of a Metric that hold data points: gauge, sum,
// histogram, exponential histogram, summary.
const metricData = 1<<5 | 1<<7 | 1<<9 | 1<<10 | 1<<11

// CountPoints returns how many data points a Metric message has. Of several
// kinds of data in it the last counts.
func CountPoints(metric []byte) (int, error) {
	points := 0
	for i := 0; i < len(metric); {
		var tag uint64
		if tag, i = Uvarint(metric, i); i < 0 {
			return 0, Fault(i)
		}
		if field := tag >> 3; tag&7 != 2 || field > 11 || metricData>>field&1 == 0 {
			if i = Skip(metric, i, tag, metricData); i < 0 {
				return 0, Fault(i)
			}
			continue
		}
		var data []byte
		if data, i = Bytes(metric, i); i < 0 {
			return 0, Fault(i)
		}
		n, at := countField(data, 1<<3|2)
		if at < 0 {
			return 0, Fault(at)
		}
		points = n
	}
	return points, nil
}

func countField(b []byte, want uint64) (n, i int) {
	for i < len(b) {
		var tag uint64
		if tag, i = Uvarint(b, i); i < 0 {
			return 0, i
		}
		if tag == want {
			n++
		}
		if i = Skip(b, i, tag, 0); i < 0 {
			return 0, i
		}
	}
	return n, i
}
