package etcd_test

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"

	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

// forger answers every request with the same messages, as a gateway without a
// cluster may.
type forger struct {
	pb.UnimplementedKVServer
	got *pb.RangeResponse
	put *pb.TxnResponse
}

func (f *forger) Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return f.got, nil
}
func (f *forger) Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) { return f.put, nil }

func TestForgedAnswers(t *testing.T) {
	for name, f := range map[string]*forger{
		"empty":       {got: &pb.RangeResponse{}, put: &pb.TxnResponse{}},
		"no header":   {got: &pb.RangeResponse{More: true}, put: &pb.TxnResponse{Succeeded: true}},
		"no revision": {got: &pb.RangeResponse{Header: &pb.ResponseHeader{}}, put: &pb.TxnResponse{Header: &pb.ResponseHeader{}, Succeeded: true, Responses: []*pb.ResponseOp{{}}}},
		"no rows": {
			got: &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: 9}, Kvs: []*mvccpb.KeyValue{{}}, More: true},
			put: &pb.TxnResponse{Header: &pb.ResponseHeader{Revision: 9}, Succeeded: true},
		},
		"other rows": {
			got: &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: 9}, Kvs: []*mvccpb.KeyValue{{Key: []byte("b"), ModRevision: 8}}},
			put: &pb.TxnResponse{Succeeded: true, Responses: []*pb.ResponseOp{{}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			server := grpc.NewServer()
			pb.RegisterKVServer(server, f)
			served := make(chan error)
			go func() { served <- server.Serve(listener) }()
			t.Cleanup(func() {
				server.Stop()
				require.NoError(t, <-served)
			})
			cfg := etcd.DefaultConfig()
			cfg.Endpoints = []string{"http://" + listener.Addr().String()}
			leasetest.RequireDisbelief(t, open(t, cfg), "7")
		})
	}
}
