package syncer

import (
	"strconv"
	"strings"
)

// compact writes ascending numbers as ranges: 1-3,7,9-10.
func compact(numbers []uint64) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatUint(numbers[i], 10))
		if j > i {
			b.WriteString("-" + strconv.FormatUint(numbers[j], 10))
		}
		i = j + 1
	}
	return b.String()
}
