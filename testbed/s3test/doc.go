// Package s3test gives tests a real S3 server and a way to break it: Server
// runs the versitygw binary over a temporary directory, and Proxy stands in
// front of it and fails requests by rule.
package s3test
