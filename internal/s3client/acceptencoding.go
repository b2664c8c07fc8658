package s3client

import (
	"context"
	"net/http"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const acceptEncoding = "Accept-Encoding"

// unsignAcceptEncoding keeps the header Accept-Encoding out of the signature:
// proxies rewrite it, and a signature over it would break every request.
func unsignAcceptEncoding(stack *middleware.Stack) error {
	var held []string
	take := middleware.FinalizeMiddlewareFunc("TakeAcceptEncoding", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if r, ok := in.Request.(*smithyhttp.Request); ok {
			held = r.Header.Values(acceptEncoding)
			r.Header.Del(acceptEncoding)
		}
		return next.HandleFinalize(ctx, in)
	})
	giveBack := middleware.FinalizeMiddlewareFunc("GiveBackAcceptEncoding", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if r, ok := in.Request.(*smithyhttp.Request); ok && len(held) > 0 {
			r.Header[http.CanonicalHeaderKey(acceptEncoding)] = held
		}
		return next.HandleFinalize(ctx, in)
	})
	if err := stack.Finalize.Insert(take, "Signing", middleware.Before); err != nil {
		return err
	}
	return stack.Finalize.Insert(giveBack, "Signing", middleware.After)
}
