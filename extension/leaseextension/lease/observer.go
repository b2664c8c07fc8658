package lease

import "time"

func (o Observer) acquired(waited time.Duration, takeover bool) {
	if o.Acquired != nil {
		o.Acquired(waited, takeover)
	}
}

func (o Observer) lost(cause error) {
	if o.Lost != nil {
		o.Lost(cause)
	}
}

func (o Observer) request(op string, took time.Duration, err error) {
	if o.Request != nil {
		o.Request(op, took, err)
	}
}
