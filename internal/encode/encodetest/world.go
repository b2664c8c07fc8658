package encodetest

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand"
	"sort"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// World is the services that send requests.
type World struct {
	r         *rand.Rand
	services  []*service
	weights   []float64 // running sums
	users     *rand.Zipf
	userIDs   []string
	addresses []string
	traces    map[*instance]*trace
}

type service struct {
	name, namespace, version, language, environment, region string
	resolution                                              int64 // of its clock, nanoseconds
	instances                                               []*instance
	templates                                               []*template
	routes                                                  []string
}

type instance struct {
	*service
	pod, node, id string
	attributes    int
}

// template is a log message: literals with a code for a variable after each.
type template struct {
	parts    []string
	codes    []byte
	logger   string
	function string
	line     int64
	severity int
	http     bool
}

// trace is the trace that an instance's next records belong to.
type trace struct {
	id   [16]byte
	span [8]byte
	left int
}

func words() []string {
	return strings.Fields(`request response connection timeout retry upstream downstream cache miss hit evicted order
	payment checkout inventory shipment customer session token refresh validated rejected accepted processing completed
	started finished failed database query transaction commit rollback lock acquired released pool exhausted worker queue
	message consumed produced partition offset lag rebalanced leader follower replica synced checkpoint snapshot compaction
	scheduled job executed handler middleware route matched authorization header missing invalid payload schema version
	upgraded fallback circuit breaker opened closed half-open latency budget exceeded threshold metric exported batch
	flushed buffer drained backpressure applied throttled quota limit reached for after before during while with from into
	because during the a of on`)
}

// NewWorld makes a world from a seed.
func NewWorld(seed int64) *World {
	r := rand.New(rand.NewSource(seed))
	w := &World{r: r, users: rand.NewZipf(r, 1.1, 8, 19999), traces: map[*instance]*trace{}}
	for range 5000 {
		w.addresses = append(w.addresses, fmt.Sprintf("%d.%d.%d.%d", 10+r.Intn(180), r.Intn(256), r.Intn(256), r.Intn(256)))
	}
	for range 20000 {
		w.userIDs = append(w.userIDs, fmt.Sprintf("u-%07d", r.Intn(9999999)))
	}
	total := 0.0
	for i, name := range strings.Fields(`checkout payment cart frontend catalog recommendation shipping email currency ad
		auth gateway search inventory pricing notification fraud-detection accounting image-provider quote`) {
		total += 1 / math.Pow(float64(i+1), 0.8)
		w.weights = append(w.weights, total)
		w.services = append(w.services, w.service(name))
	}
	return w
}

func (w *World) word() string {
	all := words()
	return all[w.r.Intn(len(all))]
}

func (w *World) service(name string) *service {
	r := w.r
	languages := []string{"go", "java", "nodejs", "python", "dotnet"}
	resolutions := []int64{1, 1000, 1000000, 1, 100}
	l := r.Intn(len(languages))
	s := &service{
		name: name + "-service", namespace: []string{"shop", "platform", "data"}[r.Intn(3)],
		version:  fmt.Sprintf("%d.%d.%d", 1+r.Intn(3), r.Intn(20), r.Intn(30)),
		language: languages[l], resolution: resolutions[l], environment: "production",
		region: []string{"eu-central-1", "eu-west-1", "us-east-1"}[r.Intn(3)],
	}
	for range 3 + r.Intn(6) {
		s.instances = append(s.instances, &instance{
			service: s, id: w.uuid(), attributes: 6 + r.Intn(5),
			node: fmt.Sprintf("ip-10-%d-%d-%d.%s.compute.internal", r.Intn(4), r.Intn(256), r.Intn(256), s.region),
			pod:  fmt.Sprintf("%s-%08x-%05x", s.name, r.Uint32(), r.Intn(1<<20)),
		})
	}
	for range 12 + r.Intn(40) {
		s.routes = append(s.routes, fmt.Sprintf("/api/v%d/%s/{%sId}/%s", 1+r.Intn(2), w.word(), w.word(), w.word()))
	}
	for range 10 {
		s.templates = append(s.templates, w.template(s))
	}
	return s
}

func (w *World) template(s *service) *template {
	r := w.r
	t := &template{}
	sizes := map[byte]int{'i': 5, 'x': 8, 'u': 36, 'p': 13, 'd': 8, 'a': 30, 'n': 9}
	literal := ""
	for length, target := 0, 90+r.Intn(190); length < target; {
		for range 2 + r.Intn(5) {
			literal += w.word() + " "
		}
		literal += w.word() + "="
		code := "ixupdan"[r.Intn(7)]
		t.parts, t.codes = append(t.parts, literal), append(t.codes, code)
		length += len(literal) + sizes[code]
		literal = " "
	}
	t.logger = fmt.Sprintf("com.example.%s.%s.%s%s", s.name, w.word(), w.word(), w.word())
	t.function = w.word() + w.word()
	t.line = int64(10 + r.Intn(900))
	t.severity = []int{5, 9, 9, 9, 9, 9, 13, 17}[r.Intn(8)]
	t.http = r.Float64() < .6
	return t
}

func (w *World) uuid() string {
	var b [16]byte
	w.r.Read(b[:])
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (w *World) instance() *instance {
	i := sort.SearchFloat64s(w.weights, w.r.Float64()*w.weights[len(w.weights)-1])
	s := w.services[i]
	return s.instances[w.r.Intn(len(s.instances))]
}

func (in *instance) fill(m pcommon.Map) {
	m.PutStr("service.name", in.name)
	m.PutStr("service.namespace", in.namespace)
	m.PutStr("service.version", in.version)
	m.PutStr("service.instance.id", in.id)
	m.PutStr("k8s.pod.name", in.pod)
	m.PutStr("deployment.environment.name", in.environment)
	more := [][2]string{
		{"k8s.node.name", in.node}, {"telemetry.sdk.language", in.language},
		{"k8s.namespace.name", in.namespace}, {"cloud.region", in.region},
	}
	for _, kv := range more[:in.attributes-6] {
		m.PutStr(kv[0], kv[1])
	}
}

func (w *World) path(route string) string {
	before, rest, _ := strings.Cut(route, "{")
	_, after, _ := strings.Cut(rest, "}")
	return before + fmt.Sprint(w.r.Intn(1000000)) + after
}
