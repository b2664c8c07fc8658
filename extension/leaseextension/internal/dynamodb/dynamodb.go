// Package dynamodb is the lease backend on a DynamoDB table: one item per
// register, written under a condition on its revision.
//
// A revision is drawn at random by every write, so it never comes back, whatever
// the table is restored from. Reads are strongly consistent. Nothing here is for
// global tables: a replica in another region takes writes that this one has not
// seen.
package dynamodb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
	"github.com/s3window/s3window/extension/leaseextension/internal/register"
)

const (
	attributeName     = "name"
	attributeValue    = "value"
	attributeRevision = "revision"
)

// Store is a register.Store in a table.
type Store struct {
	client *dial.Lazy[*dynamodb.Client]
	table  string
	create bool // the table, where it is missing
}

type item = map[string]types.AttributeValue

// Get implements register.Store.
func (s *Store) Get(ctx context.Context, key string) (register.Record, error) {
	client, err := s.client.Get(ctx)
	if err != nil {
		return register.Record{}, err
	}
	answer, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: item{attributeName: text(key)}, ConsistentRead: aws.Bool(true),
	})
	if errors.As(err, new(*types.ResourceNotFoundException)) && s.create {
		// It was there when the client began: it was deleted since. What
		// another process may have put by now is met by the next conditional
		// write.
		if err := create(ctx, client, s.table); err != nil {
			return register.Record{}, fmt.Errorf("make table %q again: %w", s.table, err)
		}
		return register.Record{}, register.ErrNotFound
	}
	if err != nil {
		return register.Record{}, s.failed("get", key, err)
	}
	if len(answer.Item) == 0 {
		return register.Record{}, register.ErrNotFound
	}
	return s.record(answer.Item)
}

// Put implements register.Store.
//
// Crash before this: the old version. Crash after it: the new one.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	client, err := s.client.Get(ctx)
	if err != nil {
		return "", err
	}
	revision := rand.Text()
	in := &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: item{
			attributeName: text(key), attributeValue: &types.AttributeValueMemberB{Value: value}, attributeRevision: text(revision),
		},
	}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = condition(ifRevision)
	if _, err := client.PutItem(ctx, in); err != nil {
		return "", s.failed("put", key, err)
	}
	return revision, nil
}

// condition is the one that the register's revision is revision.
func condition(revision string) (expression *string, names map[string]string, values item) {
	if revision == "" {
		return aws.String("attribute_not_exists(#n)"), map[string]string{"#n": attributeName}, nil
	}
	return aws.String("#r = :r"), map[string]string{"#r": attributeRevision}, item{":r": text(revision)}
}

// Delete implements register.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	client, err := s.client.Get(ctx)
	if err != nil {
		return err
	}
	if ifRevision == "" {
		return register.ErrConflict // no register has it
	}
	in := &dynamodb.DeleteItemInput{TableName: &s.table, Key: item{attributeName: text(key)}}
	in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = condition(ifRevision)
	_, err = client.DeleteItem(ctx, in)
	if err == nil {
		return nil
	}
	if err = s.failed("delete", key, err); errors.Is(err, register.ErrConflict) {
		if _, lookErr := s.Get(ctx, key); lookErr != nil {
			return lookErr // ErrNotFound, or no answer
		}
	}
	return err
}

// List implements register.Store. It reads the whole table.
func (s *Store) List(ctx context.Context, prefix string) ([]register.Record, error) {
	client, err := s.client.Get(ctx)
	if err != nil {
		return nil, err
	}
	in := &dynamodb.ScanInput{TableName: &s.table, ConsistentRead: aws.Bool(true)}
	var records []register.Record
	for pages := dynamodb.NewScanPaginator(client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, s.failed("list", prefix, err)
		}
		for _, found := range page.Items {
			rec, err := s.record(found)
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(rec.Key, prefix) {
				records = append(records, rec)
			}
		}
	}
	slices.SortFunc(records, func(a, b register.Record) int { return strings.Compare(a.Key, b.Key) })
	return records, nil
}

// record reads an item of this package's.
func (s *Store) record(found item) (register.Record, error) {
	key, named := found[attributeName].(*types.AttributeValueMemberS)
	value, valued := found[attributeValue].(*types.AttributeValueMemberB)
	revision, revised := found[attributeRevision].(*types.AttributeValueMemberS)
	if !named || !valued || !revised {
		return register.Record{}, fmt.Errorf("read item of table %q: it is no lease: its name, value or revision is missing", s.table)
	}
	return register.Record{Key: key.Value, Value: value.Value, Revision: revision.Value}, nil
}

func (s *Store) failed(verb, key string, err error) error {
	if errors.As(err, new(*types.ConditionalCheckFailedException)) {
		return register.ErrConflict
	}
	if errors.As(err, new(*types.ResourceNotFoundException)) {
		return fmt.Errorf("%s item %q of table %q: %w: make the table, with the string %q as its partition key, or set `create_table`", verb, key, s.table, err, attributeName)
	}
	return fmt.Errorf("%s item %q of table %q: %w", verb, key, s.table, err)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
