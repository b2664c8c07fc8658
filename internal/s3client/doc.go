// Package s3client makes S3 clients from the settings that every part of the
// exporter shares. It is the only place that builds an AWS client.
//
// The client is made for callers that own their retries: the SDK sends a
// request at most three times, on errors that pass by themselves, without a
// quota of its own. A connection on which no byte moves for Config.Timeout is
// dead and ends the request, however long a transfer that moves may take. What
// the SDK would take from its environment (credentials, AWS_CA_BUNDLE,
// AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL_STS, proxies) it still takes, where the
// Config says nothing.
//
// The SDK reports success for any answer with status 200. What an answer proves,
// Answer tells.
package s3client
