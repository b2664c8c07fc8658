package main

func ofLake() []mutant {
	const dir = "internal/lake/"
	return []mutant{
		one("a manifest that is there counts as put", dir+"manifests.go", "	case back == nil && found == sum:\n", "	case back == nil:\n"),
		one("a manifest at another one's key is read", dir+"manifests.go", "own != key {", "false && own != key {"),
		one("an object that differs counts as put", dir+"object.go", "		case there.is(body):\n			return meta.object(key, body), nil\n", "		default:\n			return meta.object(key, body), nil\n"),
		one("a torn object is left", dir+"object.go", "if o, ok := there.verified(); ok {", "if o, ok := there.verified(); ok || o.Key == \"\" {"),
		one("only the size of an object is compared", dir+"object.go", "c.size == body.Size && c.sum == body.SHA256", "c.size == body.Size"),
		one("other bytes count as the same", dir+"object.go", "	case there.is(body):\n		return nil\n	}\n	return ErrExists\n", "	}\n	return nil\n"),
		one("a listing may name no bucket", dir+"s3.go", "if page.Name == nil {", "if false {"),
	}
}
