package s3client

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/testbed/s3test"
)

// digits is what the check values of the checksums are defined on.
const digits = "123456789"

// sums are answers with one proof of digits each.
func sums() map[string]s3.PutObjectOutput {
	return map[string]s3.PutObjectOutput{
		"ETag":            {ETag: aws.String(`"25f9e794323b453885f5181f1b624d0b"`)},
		"ETag, unquoted":  {ETag: aws.String(`25f9e794323b453885f5181f1b624d0b`)},
		"ETag, uppercase": {ETag: aws.String(`"25F9E794323B453885F5181F1B624D0B"`)},
		"CRC32":           {ChecksumCRC32: aws.String("y/Q5Jg==")},
		"CRC32C":          {ChecksumCRC32C: aws.String("4waSgw==")},
		"CRC64NVME":       {ChecksumCRC64NVME: aws.String("rosUhgp5mIg=")},
		"MD5":             {ChecksumMD5: aws.String("JfnnlDI7RTiF9RgfG2JNCw==")},
		"SHA1":            {ChecksumSHA1: aws.String("98O8HYCOBHMq32eZZczDTKeuNEE=")},
		"SHA256":          {ChecksumSHA256: aws.String("FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=")},
		"SHA512":          {ChecksumSHA512: aws.String("2eZ2LdHI6vbWGzxhkvxAjU1tXxF20MKRabwk5xw/J0rSf81YEbMT1oH35V7ALXPUmclUVba1u1A6z1dPuo/+hQ==")},
		"foreign ETag, known checksum": { // as with SSE-KMS
			ETag: aws.String(`"00000000000000000000000000000000"`), ChecksumCRC64NVME: aws.String("rosUhgp5mIg="),
		},
		"weak ETag, known checksum": {ETag: aws.String(`W/"1"`), ChecksumCRC32C: aws.String("4waSgw==")},
	}
}

func TestAnswersThatProve(t *testing.T) {
	for name, out := range sums() {
		t.Run(name, func(t *testing.T) {
			a := PutAnswer(&out)
			require.NoError(t, a.Proves([]byte(digits)))
			require.NoError(t, a.Proves([]byte(digits[:4]), nil, []byte(digits[4:])), "in pieces")
			require.ErrorIs(t, a.Proves([]byte(digits+"0")), ErrUnproven, "other bytes")
			require.ErrorIs(t, a.Proves(), ErrUnproven, "no bytes")
		})
	}
}

func TestAnswersThatProveNothing(t *testing.T) {
	for want, out := range map[string]s3.PutObjectOutput{
		"it has neither a checksum nor an ETag": {},
		`it has no checksum, and its ETag "W/\"25f9e794323b453885f5181f1b624d0b\"" is not the MD5 of the bytes`: {
			ETag: aws.String(`W/"25f9e794323b453885f5181f1b624d0b"`),
		},
		`it has no checksum, and its ETag "\"5f3-abc\"" is not the MD5 of the bytes`: {ETag: aws.String(`"5f3-abc"`)},
		`its checksum "AAAAAA==" is that of other bytes`: { // that another checksum fits, or the ETag, does not count
			ChecksumCRC32: aws.String("AAAAAA=="), ChecksumCRC32C: aws.String("4waSgw=="), ETag: aws.String(`"25f9e794323b453885f5181f1b624d0b"`),
		},
		`it has no checksum, and its ETag "\"1\"" is not the MD5 of the bytes`: { // a checksum of parts says nothing of a put
			ETag: aws.String(`"1"`), ChecksumCRC32C: aws.String("4waSgw==-1"),
		},
	} {
		a := PutAnswer(&out)
		require.EqualError(t, a.Proves([]byte(digits)), ErrUnproven.Error()+": "+want)
	}
}

// TestParts is about objects of two parts, digits and "0".
func TestParts(t *testing.T) {
	part := func(etag, crc32c, sha256 string) Answer {
		return PartAnswer(&s3.UploadPartOutput{ETag: &etag, ChecksumCRC32C: &crc32c, ChecksumSHA256: &sha256})
	}
	one := part(`"25f9e794323b453885f5181f1b624d0b"`, "4waSgw==", "")
	two := part(`"cfcd208495d565ef66e7dff9f98764da"`, "Yp4a4A==", "X+zrZv/IbzjZUnhsbWlsecLbwjndTpG0ZynXOif7V+k=")
	require.NoError(t, one.Proves([]byte(digits)))
	require.NoError(t, two.Proves([]byte("0")))
	opaque := part(`"opaque"`, "4waSgw==", "")

	for name, tc := range map[string]struct {
		out   s3.CompleteMultipartUploadOutput
		parts []Answer
		want  string // part of the error; empty: it proves
	}{
		"ETag":                        {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`"64f57ee194b74e18621077d9c1a37ea5-2"`)}},
		"CRC32C of the parts":         {out: s3.CompleteMultipartUploadOutput{ChecksumCRC32C: aws.String("l7fT1Q==-2")}},
		"CRC64NVME of all":            {out: s3.CompleteMultipartUploadOutput{ChecksumCRC64NVME: aws.String("YCWlgjR7efM="), ETag: aws.String(`"opaque"`)}},
		"nothing":                     {want: "neither a checksum nor an ETag"},
		"ETag in another order":       {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`"64f57ee194b74e18621077d9c1a37ea5-2"`)}, parts: []Answer{two, one}, want: "is not that of the 2 parts"},
		"ETag of fewer parts":         {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`"64f57ee194b74e18621077d9c1a37ea5-2"`)}, parts: []Answer{one}, want: "is not that of the 1 parts"},
		"ETag that is weak":           {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`W/"64f57ee194b74e18621077d9c1a37ea5-2"`)}, want: "is not that of the 2 parts"},
		"ETag of opaque parts":        {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`"64f57ee194b74e18621077d9c1a37ea5-2"`)}, parts: []Answer{opaque, two}, want: "is not that of the 2 parts"},
		"no parts":                    {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`"1"`)}, parts: []Answer{}, want: "is not that of the 0 parts"},
		"CRC32C of others":            {out: s3.CompleteMultipartUploadOutput{ChecksumCRC32C: aws.String("l7fT1Q==-2")}, parts: []Answer{two, one}, want: "checksum"},
		"CRC64NVME of others":         {out: s3.CompleteMultipartUploadOutput{ChecksumCRC64NVME: aws.String("rosUhgp5mIg=")}, want: "checksum"},
		"SHA256 that parts have not":  {out: s3.CompleteMultipartUploadOutput{ChecksumSHA256: aws.String("x-2")}, want: "neither a checksum nor an ETag"},
		"ETag beside that SHA256":     {out: s3.CompleteMultipartUploadOutput{ChecksumSHA256: aws.String("x-2"), ETag: aws.String(`"64f57ee194b74e18621077d9c1a37ea5-2"`)}},
		"ETag beside a wrong CRC32C":  {out: s3.CompleteMultipartUploadOutput{ChecksumCRC32C: aws.String("AAAAAA==-2"), ETag: aws.String(`"64f57ee194b74e18621077d9c1a37ea5-2"`)}, want: "checksum"},
		"ETag of one object as whole": {out: s3.CompleteMultipartUploadOutput{ETag: aws.String(`"e807f1fcf82d132f9bb018ca6738a19f"`)}, want: "is not that of the 2 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			parts := tc.parts
			if parts == nil {
				parts = []Answer{one, two}
			}
			err := CompleteAnswer(&tc.out).ProvesParts(parts, []byte(digits), []byte("0"))
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrUnproven)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// evidence does each operation once and says what its answers prove.
type evidence struct {
	client *s3.Client
	c      Config
}

var whole = [][]byte{bytes.Repeat([]byte("a"), 5<<20), []byte("the last part may be small")}

func (e evidence) put(t *testing.T) Answer {
	out, err := e.client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &e.c.Bucket, Key: aws.String("k"), Body: strings.NewReader(digits), ChecksumAlgorithm: e.c.Algorithm(),
	})
	require.NoError(t, err)
	return PutAnswer(out)
}

func (e evidence) get(t *testing.T, key string) Answer {
	out, err := e.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &e.c.Bucket, Key: &key})
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	return GetAnswer(out)
}

func (e evidence) begin(t *testing.T) *string {
	out, err := e.client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{
		Bucket: &e.c.Bucket, Key: aws.String("m"), ChecksumAlgorithm: e.c.Algorithm(),
	})
	require.NoError(t, err)
	return out.UploadId
}

func (e evidence) part(t *testing.T, upload *string, number int32) (Answer, types.CompletedPart) {
	out, err := e.client.UploadPart(t.Context(), &s3.UploadPartInput{
		Bucket: &e.c.Bucket, Key: aws.String("m"), UploadId: upload, PartNumber: &number,
		Body: bytes.NewReader(whole[number-1]), ChecksumAlgorithm: e.c.Algorithm(),
	})
	require.NoError(t, err)
	return PartAnswer(out), types.CompletedPart{
		PartNumber: &number, ETag: out.ETag, ChecksumCRC32C: out.ChecksumCRC32C, ChecksumCRC64NVME: out.ChecksumCRC64NVME, ChecksumSHA256: out.ChecksumSHA256,
	}
}

func (e evidence) complete(t *testing.T, upload *string, parts ...types.CompletedPart) (Answer, error) {
	out, err := e.client.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: &e.c.Bucket, Key: aws.String("m"), UploadId: upload, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		return Answer{}, err
	}
	return CompleteAnswer(out), nil
}

// TestEvidenceOfTheServer has every answer of a real store prove what was sent,
// with each checksum and over http and https.
func TestEvidenceOfTheServer(t *testing.T) {
	isolate(t)
	s := s3test.Start(t)
	_, secure, bundle := s3test.StartTLSProxy(t, s.Endpoint)
	t.Setenv("AWS_CA_BUNDLE", bundle)
	c := valid()
	c.PathStyle, c.AccessKeyID, c.SecretAccessKey = true, s.AccessKey, configopaque.String(s.SecretKey)
	for _, c.Endpoint = range []string{s.Endpoint, secure} {
		for _, c.Checksum = range []string{"crc32c", "crc64nvme", "sha256", "none"} {
			t.Run(c.Endpoint+" "+c.Checksum, func(t *testing.T) {
				c.Bucket = s.NewBucket(t)
				e := evidence{newClient(t, c), c}
				put := e.put(t)
				require.NoError(t, put.Proves([]byte(digits)))
				require.ErrorIs(t, put.Proves([]byte("x")), ErrUnproven)
				require.NoError(t, e.get(t, "k").Proves([]byte(digits)))

				upload := e.begin(t)
				one, first := e.part(t, upload, 1)
				two, second := e.part(t, upload, 2)
				require.NoError(t, one.Proves(whole[0]))
				require.NoError(t, two.Proves(whole[1]))
				require.ErrorIs(t, two.Proves(whole[0]), ErrUnproven)
				done, err := e.complete(t, upload, first, second)
				require.NoError(t, err)
				require.NoError(t, done.ProvesParts([]Answer{one, two}, whole...))
				require.ErrorIs(t, done.ProvesParts([]Answer{two, one}, whole[1], whole[0]), ErrUnproven)
			})
		}
	}
}

// TestForgedAnswers has a proxy answer in the store's place. The SDK reports
// success for all of these.
func TestForgedAnswers(t *testing.T) {
	isolate(t)
	html := "<html><body>Please log in</body></html>"
	for name, forge := range map[string]func(w http.ResponseWriter){
		"html":  func(w http.ResponseWriter) { fmt.Fprint(w, html) },
		"empty": func(http.ResponseWriter) {},
		"html with an ETag": func(w http.ResponseWriter) {
			w.Header().Set("ETag", `"5f3-62a1"`)
			fmt.Fprint(w, html)
		},
		"weak ETag":          func(w http.ResponseWriter) { w.Header().Set("ETag", `W/"25f9e794323b453885f5181f1b624d0b"`) },
		"ETag of other":      func(w http.ResponseWriter) { w.Header().Set("ETag", `"cfcd208495d565ef66e7dff9f98764da"`) },
		"checksum of others": func(w http.ResponseWriter) { w.Header().Set("X-Amz-Checksum-Crc32c", "AAAAAA==") },
		"another document":   func(w http.ResponseWriter) { fmt.Fprint(w, "<ListBucketResult/>") },
	} {
		for _, checksum := range []string{"crc32c", "none"} {
			t.Run(name+" "+checksum, func(t *testing.T) {
				s := newStore(t, httptest.NewServer, func(_ int, w http.ResponseWriter, _ *http.Request) { forge(w) })
				c := s.config()
				c.Checksum = checksum
				e := evidence{newClient(t, c), c}
				require.ErrorIs(t, e.put(t).Proves([]byte(digits)), ErrUnproven)
				require.ErrorIs(t, e.get(t, "k").Proves([]byte(digits)), ErrUnproven)
				upload := aws.String("u")
				part, first := e.part(t, upload, 1)
				require.ErrorIs(t, part.Proves(whole[0]), ErrUnproven)
				done, err := e.complete(t, upload, first)
				require.NoError(t, err)
				require.ErrorIs(t, done.ProvesParts([]Answer{part}, whole[0]), ErrUnproven)
			})
		}
	}
}

func BenchmarkProves(b *testing.B) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<20/16)
	for i, name := range []string{"crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha256", "sha512"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				digest(i, body)
			}
		})
	}
}
