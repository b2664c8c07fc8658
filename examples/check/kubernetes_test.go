package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

const manifest = "../kubernetes/fleet.yaml"

// objects are the kinds that the examples may have, each with its type.
func newObject(kind string) any {
	switch kind {
	case "v1 ServiceAccount":
		return &corev1.ServiceAccount{}
	case "v1 ConfigMap":
		return &corev1.ConfigMap{}
	case "v1 Service":
		return &corev1.Service{}
	case "apps/v1 StatefulSet":
		return &appsv1.StatefulSet{}
	case "policy/v1 PodDisruptionBudget":
		return &policyv1.PodDisruptionBudget{}
	}
	return nil
}

// read decodes a file's documents strictly: a field that the type does not
// have, or has twice, is an error.
func read(t *testing.T, file string) (out []any) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, doc := range strings.Split(string(content), "\n---\n") {
		var meta metav1.TypeMeta
		require.NoError(t, yaml.Unmarshal([]byte(doc), &meta))
		object := newObject(meta.APIVersion + " " + meta.Kind)
		require.NotNil(t, object, "%s %s", meta.APIVersion, meta.Kind)
		require.NoError(t, yaml.UnmarshalStrict([]byte(doc), object), meta.Kind)
		out = append(out, object)
	}
	return out
}

// only gives the one object of a type that f takes.
func only[T any](t *testing.T, objects []any, f func(*T) bool) *T {
	t.Helper()
	var found []*T
	for _, o := range objects {
		if o, ok := o.(*T); ok && f(o) {
			found = append(found, o)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

func all[T any](*T) bool { return true }

// What one object says of another must be so.
func TestFleet(t *testing.T) {
	objects := read(t, manifest)
	set := only(t, objects, all[appsv1.StatefulSet])
	pod := labels.Set(set.Spec.Template.Labels)
	c := set.Spec.Template.Spec.Containers[0]

	require.True(t, matches(t, set.Spec.Selector, pod))
	require.True(t, matches(t, only(t, objects, all[policyv1.PodDisruptionBudget]).Spec.Selector, pod))
	require.True(t, matches(t, set.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector, pod))
	require.Equal(t, only(t, objects, all[corev1.ServiceAccount]).Name, set.Spec.Template.Spec.ServiceAccountName)
	governing := only(t, objects, func(s *corev1.Service) bool { return s.Name == set.Spec.ServiceName })
	require.Equal(t, corev1.ClusterIPNone, governing.Spec.ClusterIP)

	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, o := range objects {
		if s, ok := o.(*corev1.Service); ok {
			require.True(t, labels.SelectorFromSet(s.Spec.Selector).Matches(pod))
			for _, p := range s.Spec.Ports {
				require.Equal(t, p.Port, ports[p.TargetPort.StrVal], "%s/%s", s.Name, p.Name)
			}
		}
	}
	for _, probe := range []*corev1.Probe{c.ReadinessProbe, c.StartupProbe} {
		require.NotZero(t, ports[probe.HTTPGet.Port.StrVal])
	}
}

func matches(t *testing.T, s *metav1.LabelSelector, pod labels.Set) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	require.NoError(t, err)
	return selector.Matches(pod) && !selector.Empty()
}

// The queue must be on the volume and fit there, the memory must fit the
// container, and a shutdown must fit its grace.
func TestFleetKeepsItsPromises(t *testing.T) {
	objects := read(t, manifest)
	set := only(t, objects, all[appsv1.StatefulSet])
	spec, c := set.Spec.Template.Spec, set.Spec.Template.Spec.Containers[0]
	config := only(t, objects, all[corev1.ConfigMap]).Data["collector.yaml"]
	file := filepath.Join(t.TempDir(), "collector.yaml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	accept(t, file)

	var parsed struct {
		Exporters struct {
			S3window struct {
				Flush struct {
					ShutdownGrace string `json:"shutdown_grace"`
				}
				MemoryLimitMiB int64 `json:"memory_limit_mib"`
				SendingQueue   struct {
					QueueSize int64 `json:"queue_size"`
				} `json:"sending_queue"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(config), &parsed))
	exporter := parsed.Exporters.S3window
	grace, err := time.ParseDuration(exporter.Flush.ShutdownGrace)
	require.NoError(t, err)
	require.Greater(t, time.Duration(*spec.TerminationGracePeriodSeconds)*time.Second, grace+10*time.Second)
	require.GreaterOrEqual(t, c.Resources.Limits.Memory().Value(), (exporter.MemoryLimitMiB+150)<<20)

	claim := set.Spec.VolumeClaimTemplates[0]
	require.LessOrEqual(t, exporter.SendingQueue.QueueSize*5/4, claim.Spec.Resources.Requests.Storage().Value())
	require.Equal(t, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled)
	require.Equal(t, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
	var walDir, mounted string
	for _, e := range c.Env {
		if e.Name == "WAL_DIR" {
			walDir = e.Value
		}
	}
	for _, m := range c.VolumeMounts {
		if m.Name == claim.Name {
			mounted = m.MountPath
		}
	}
	require.True(t, strings.HasPrefix(walDir, mounted+"/"), "%s is not on the volume at %s", walDir, mounted)
}
