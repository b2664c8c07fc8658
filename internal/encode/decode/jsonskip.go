package decode

// skip steps over a value. What it skips need not be sound in all depth.
func (p *parser) skip() error {
	p.space()
	for depth := 0; p.i < len(p.s); {
		switch c := p.s[p.i]; c {
		case '"':
			if !p.skipText() {
				return p.unexpected()
			}
		case '{', '[':
			depth++
			p.i++
		case '}', ']':
			if depth--; depth < 0 {
				return p.unexpected()
			}
			p.i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return p.unexpected()
			}
			p.i++
		default:
			from := p.i
			if !p.literal("null") && !p.literal("true") && !p.literal("false") && p.number() == "" {
				p.i = from
				return p.unexpected()
			}
		}
		if depth == 0 {
			return nil
		}
	}
	return p.unexpected()
}

// skipText steps over a string.
func (p *parser) skipText() bool {
	for p.i++; p.i < len(p.s); p.i++ {
		switch p.s[p.i] {
		case '"':
			p.i++
			return true
		case '\\':
			p.i++
		}
	}
	return false
}
