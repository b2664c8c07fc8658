package s3client

import (
	"crypto/fips140"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ErrUnproven says that an answer does not prove what is stored. A status of 200
// alone proves nothing: a proxy on the way may have made it up, and the SDK
// reports success whatever else is in the answer. After a write its outcome is
// then unknown, as after every other error: read the key, never assume. What was
// read is then to be read again.
var ErrUnproven = errors.New("the answer does not prove what is stored")

// Answer is what a store says of the bytes of an object or a part: an ETag, and
// the checksums that the SDK knows. Each constructor takes the output of one
// operation.
type Answer struct {
	etag string
	sums [algorithms]string // base64, with -N behind it where N parts have a checksum together; empty if not said
}

// The checksums, as indices. The XXHASH family is not among them: the standard
// library cannot compute it.
const (
	sumCRC32 = iota
	sumCRC32C
	sumCRC64NVME
	sumMD5
	sumSHA1
	sumSHA256
	sumSHA512
	algorithms
)

// PutAnswer is the answer to a PutObject.
func PutAnswer(out *s3.PutObjectOutput) Answer {
	return answer(out.ETag, out.ChecksumCRC32, out.ChecksumCRC32C, out.ChecksumCRC64NVME, out.ChecksumMD5,
		out.ChecksumSHA1, out.ChecksumSHA256, out.ChecksumSHA512)
}

// PartAnswer is the answer to an UploadPart.
func PartAnswer(out *s3.UploadPartOutput) Answer {
	return answer(out.ETag, out.ChecksumCRC32, out.ChecksumCRC32C, out.ChecksumCRC64NVME, out.ChecksumMD5,
		out.ChecksumSHA1, out.ChecksumSHA256, out.ChecksumSHA512)
}

// CompleteAnswer is the answer to a CompleteMultipartUpload.
func CompleteAnswer(out *s3.CompleteMultipartUploadOutput) Answer {
	return answer(out.ETag, out.ChecksumCRC32, out.ChecksumCRC32C, out.ChecksumCRC64NVME, out.ChecksumMD5,
		out.ChecksumSHA1, out.ChecksumSHA256, out.ChecksumSHA512)
}

// GetAnswer is the answer to a GetObject. Stores send checksums with it only if
// the request has ChecksumMode, which the SDK sets unless Config.Checksum is
// none.
func GetAnswer(out *s3.GetObjectOutput) Answer {
	return answer(out.ETag, out.ChecksumCRC32, out.ChecksumCRC32C, out.ChecksumCRC64NVME, out.ChecksumMD5,
		out.ChecksumSHA1, out.ChecksumSHA256, out.ChecksumSHA512)
}

func answer(etag *string, sums ...*string) Answer {
	a := Answer{etag: aws.ToString(etag)}
	for i, sum := range sums {
		a.sums[i] = aws.ToString(sum)
	}
	return a
}

// Proves returns nil if the answer to a PutObject, an UploadPart or a GetObject
// shows that the store holds exactly body, given in pieces; else an ErrUnproven
// that says why.
//
// Any checksum of the whole body is a proof, whether the request asked for it or
// not, and one that differs refutes every other. Without a checksum the ETag is a
// proof if it is the MD5 of body, which is computed only then. An ETag that is
// weak or opaque is none: with SSE-KMS and in some stores it is not the MD5, and
// then only a checksum proves anything.
func (a Answer) Proves(body ...[]byte) error {
	fits := false
	for i, said := range a.sums {
		if said == "" || ofParts(said) {
			continue
		}
		if said != base64.StdEncoding.EncodeToString(digest(i, body...)) {
			return unproven("its checksum %q is that of other bytes", said)
		}
		fits = true
	}
	switch {
	case fits:
		return nil
	case a.etag == "":
		return unproven("it has neither a checksum nor an ETag")
	case !strings.EqualFold(strings.Trim(a.etag, `"`), hex.EncodeToString(digest(sumMD5, body...))):
		return unproven("it has no checksum, and its ETag %q is not the MD5 of the bytes", a.etag)
	}
	return nil
}

// ProvesParts returns nil if the answer to a CompleteMultipartUpload shows that
// the object is made of exactly these parts in this order; else an ErrUnproven
// that says why. parts are the answers to the UploadParts, each of which must
// have proven its part by Proves. body is the whole object, given in pieces; it
// is read only where the answer has a checksum of the whole object.
//
// A proof is a checksum of the whole object, a checksum of the parts' checksums
// (with -N behind it), or, without a checksum, the ETag md5(md5s)-N of the ETags
// that the parts had. A checksum that differs refutes every other.
func (a Answer) ProvesParts(parts []Answer, body ...[]byte) error {
	fits := false
	for i, said := range a.sums {
		if said == "" {
			continue
		}
		var want string
		if ofParts(said) {
			want = compositeSum(i, parts)
		} else {
			want = base64.StdEncoding.EncodeToString(digest(i, body...))
		}
		if want == "" {
			continue // the parts were answered with another checksum
		}
		if said != want {
			return unproven("its checksum %q is not that of the %d parts", said, len(parts))
		}
		fits = true
	}
	switch etag := compositeETag(parts); {
	case fits:
		return nil
	case a.etag == "":
		return unproven("it has neither a checksum nor an ETag")
	case etag == "" || !strings.EqualFold(strings.Trim(a.etag, `"`), etag):
		return unproven("it has no checksum, and its ETag %q is not that of the %d parts", a.etag, len(parts))
	}
	return nil
}

// compositeSum is the checksum of the parts' checksums; empty if not every part
// was answered with one.
func compositeSum(algorithm int, parts []Answer) string {
	var sums []byte
	for _, p := range parts {
		sum, err := base64.StdEncoding.DecodeString(p.sums[algorithm])
		if err != nil || len(sum) == 0 {
			return ""
		}
		sums = append(sums, sum...)
	}
	return base64.StdEncoding.EncodeToString(digest(algorithm, sums)) + "-" + strconv.Itoa(len(parts))
}

// compositeETag is the ETag of an object made of the parts; empty if one of them
// has none that is an MD5.
func compositeETag(parts []Answer) string {
	var sums []byte
	for _, p := range parts {
		sum, err := hex.DecodeString(strings.Trim(p.etag, `"`))
		if err != nil || len(sum) != md5.Size {
			return ""
		}
		sums = append(sums, sum...)
	}
	return hex.EncodeToString(digest(sumMD5, sums)) + "-" + strconv.Itoa(len(parts))
}

// ofParts tells whether a checksum is one of N parts' checksums, with -N behind
// it. Base64 has no hyphen.
func ofParts(sum string) bool { return strings.Contains(sum, "-") }

// digest is the checksum of the pieces together. It tells bytes apart and
// protects nothing, so it may be MD5 also where FIPS 140 is enforced.
func digest(algorithm int, pieces ...[]byte) (sum []byte) {
	fips140.WithoutEnforcement(func() {
		h := newHash(algorithm)
		for _, piece := range pieces {
			h.Write(piece)
		}
		sum = h.Sum(nil)
	})
	return sum
}

func newHash(algorithm int) hash.Hash {
	switch algorithm {
	case sumCRC32:
		return crc32.NewIEEE()
	case sumCRC32C:
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case sumCRC64NVME:
		return crc64.New(crc64.MakeTable(0x9a6c_9329_ac4b_c9b5))
	case sumSHA1:
		return sha1.New()
	case sumSHA256:
		return sha256.New()
	case sumSHA512:
		return sha512.New()
	}
	return md5.New()
}

func unproven(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnproven}, args...)...)
}
