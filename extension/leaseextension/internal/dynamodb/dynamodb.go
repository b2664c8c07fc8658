// Package dynamodb is the lease backend on a DynamoDB table: one item per
// register, written under a condition on its revision.
//
// A revision is drawn at random by every write, so it never comes back, whatever
// the table is restored from. Reads are strongly consistent. Nothing here is for
// global tables: a replica in another region takes writes that this one has not
// seen.
//
// No answer counts because of its status alone: an empty one, which the SDK takes
// for success and for a missing item, may be a proxy's. A write counts if the
// answer has the attributes that were written; an item is missing, and a page of
// a listing complete, only if the answer says what the request consumed of the
// table.
package dynamodb

import (
	"bytes"
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
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

const (
	attributeName     = "name"
	attributeValue    = "value"
	attributeRevision = "revision"
)

// Store is a lease.Store in a table.
type Store struct {
	client *dial.Lazy[*dynamodb.Client]
	table  string
	create bool // the table, where it is missing
}

type item = map[string]types.AttributeValue

// Get implements lease.Store.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	client, err := s.client.Get(ctx)
	if err != nil {
		return lease.Record{}, err
	}
	answer, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.table, Key: item{attributeName: text(key)}, ConsistentRead: aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if errors.As(err, new(*types.ResourceNotFoundException)) && s.create {
		// The table was there when the client began, and was deleted since. If
		// another process has put something meanwhile, the next conditional
		// write meets it.
		if err := create(ctx, client, s.table); err != nil {
			return lease.Record{}, fmt.Errorf("make table %q again: %w", s.table, err)
		}
		return lease.Record{}, lease.ErrNotFound
	}
	if err != nil {
		return lease.Record{}, s.failed("get", key, err)
	}
	if len(answer.Item) == 0 {
		if err := s.answered(answer.ConsumedCapacity); err != nil {
			return lease.Record{}, s.failed("get", key, err)
		}
		return lease.Record{}, lease.ErrNotFound
	}
	rec, err := s.record(answer.Item)
	if err == nil && rec.Key != key {
		err = s.failed("get", key, fmt.Errorf("the answer is about item %q", rec.Key))
	}
	return rec, err
}

// answered tells whether an answer is the table's.
func (s *Store) answered(capacity *types.ConsumedCapacity) error {
	if capacity == nil || aws.ToString(capacity.TableName) != s.table {
		return errors.New("the answer does not say what the request consumed of the table: it may not be the table's")
	}
	return nil
}

// Put implements lease.Store.
//
// Crash before this: the old version. Crash after it: the new one.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	client, err := s.client.Get(ctx)
	if err != nil {
		return "", err
	}
	revision := rand.Text()
	in := &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: item{attributeName: text(key)},
		UpdateExpression:          aws.String("SET #v = :v, #r = :new"),
		ExpressionAttributeNames:  map[string]string{"#v": attributeValue, "#r": attributeRevision},
		ExpressionAttributeValues: item{":v": &types.AttributeValueMemberB{Value: value}, ":new": text(revision)},
		ReturnValues:              types.ReturnValueUpdatedNew,
	}
	if ifRevision == "" {
		in.ConditionExpression = aws.String("attribute_not_exists(#n)")
		in.ExpressionAttributeNames["#n"] = attributeName
	} else {
		in.ConditionExpression = aws.String("#r = :r")
		in.ExpressionAttributeValues[":r"] = text(ifRevision)
	}
	answer, err := client.UpdateItem(ctx, in)
	if err != nil {
		return "", s.failed("put", key, err)
	}
	written, valued := answer.Attributes[attributeValue].(*types.AttributeValueMemberB)
	at, revised := answer.Attributes[attributeRevision].(*types.AttributeValueMemberS)
	if !valued || !revised || at.Value != revision || !bytes.Equal(written.Value, value) {
		return "", s.failed("put", key, errors.New("the answer does not have what was written: it may not be the table's"))
	}
	return revision, nil
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	client, err := s.client.Get(ctx)
	if err != nil {
		return err
	}
	if ifRevision == "" {
		return lease.ErrConflict // no register has it
	}
	answer, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: item{attributeName: text(key)},
		ConditionExpression:       aws.String("#r = :r"),
		ExpressionAttributeNames:  map[string]string{"#r": attributeRevision},
		ExpressionAttributeValues: item{":r": text(ifRevision)},
		ReturnValues:              types.ReturnValueAllOld,
	})
	if err == nil {
		if old, ok := answer.Attributes[attributeRevision].(*types.AttributeValueMemberS); ok && old.Value == ifRevision {
			return nil
		}
		err = errors.New("the answer does not have what was deleted: it may not be the table's")
	}
	if err = s.failed("delete", key, err); errors.Is(err, lease.ErrConflict) {
		if _, lookErr := s.Get(ctx, key); lookErr != nil {
			return lookErr // ErrNotFound, or no answer
		}
	}
	return err
}

// List implements lease.Store. It reads the whole table.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	client, err := s.client.Get(ctx)
	if err != nil {
		return nil, err
	}
	in := &dynamodb.ScanInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	var records []lease.Record
	for pages := dynamodb.NewScanPaginator(client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = s.answered(page.ConsumedCapacity)
		}
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
	slices.SortFunc(records, func(a, b lease.Record) int { return strings.Compare(a.Key, b.Key) })
	return records, nil
}

// record reads an item of this package's.
func (s *Store) record(found item) (lease.Record, error) {
	key, named := found[attributeName].(*types.AttributeValueMemberS)
	value, valued := found[attributeValue].(*types.AttributeValueMemberB)
	revision, revised := found[attributeRevision].(*types.AttributeValueMemberS)
	if !named || !valued || !revised {
		return lease.Record{}, fmt.Errorf("read item of table %q: it is no lease: its name, value or revision is missing", s.table)
	}
	return lease.Record{Key: key.Value, Value: value.Value, Revision: revision.Value}, nil
}

func (s *Store) failed(verb, key string, err error) error {
	if errors.As(err, new(*types.ConditionalCheckFailedException)) {
		return lease.ErrConflict
	}
	if errors.As(err, new(*types.ResourceNotFoundException)) {
		return fmt.Errorf("%s item %q of table %q: %w: make the table, with the string %q as its partition key, or set `create_table`", verb, key, s.table, err, attributeName)
	}
	return fmt.Errorf("%s item %q of table %q: %w", verb, key, s.table, err)
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
