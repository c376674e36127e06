import { describe, expect, it } from 'vitest'
import { readGeminiSchema } from '#relay/conversion/gemini/read-gemini-schema.ts'
import { toGeminiSchema } from '#relay/conversion/gemini/write-gemini-schema.ts'

const write = (schema: unknown) => toGeminiSchema(schema, 's')
const schemaOf = (schema: unknown) => write(schema).value
const lossesOf = (schema: unknown) => write(schema).losses

describe('writing a JSON schema in Gemini’s dialect', () => {
  it('takes a type without a text for no type', () => {
    const { value } = write({ anyOf: [{ type: [{ toString: 1 }] }, { type: 'string' }] })
    expect(value.anyOf).toHaveLength(2)
  })

  it('writes an object as the tools of an agent describe it', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        path: { type: 'string', description: 'The file', minLength: 1, pattern: '^/' },
        limit: { type: 'integer', minimum: 1, exclusiveMaximum: 100, format: 'int32' },
        mode: { type: 'string', enum: ['read', 'write'] },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 3, uniqueItems: true },
        at: { type: 'string', format: 'date-time', default: 'now' },
        url: { type: 'string', format: 'uri' },
      },
      required: ['path', 'unknown'],
      additionalProperties: false,
    }
    expect(write(schema)).toEqual({
      value: {
        type: 'OBJECT',
        properties: {
          path: { type: 'STRING', description: 'The file', minLength: 1, pattern: '^/' },
          limit: { type: 'INTEGER', minimum: 1, maximum: 99, format: 'int32' },
          mode: { type: 'STRING', format: 'enum', enum: ['read', 'write'] },
          tags: { type: 'ARRAY', items: { type: 'STRING' }, maxItems: 3 },
          at: { type: 'STRING', format: 'date-time', default: 'now' },
          url: { type: 'STRING' },
        },
        required: ['path'],
      },
      losses: [
        's.additionalProperties',
        's.properties.tags.uniqueItems',
        's.properties.url.format',
        's.required',
      ],
    })
  })

  it('turns a type of null into nullable', () => {
    expect(write({ type: ['string', 'null'] })).toEqual({
      value: { type: 'STRING', nullable: true },
      losses: [],
    })
    expect(schemaOf({ anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'd' })).toEqual({
      type: 'INTEGER',
      description: 'd',
      nullable: true,
    })
    expect(schemaOf({ type: ['string', 'null'], enum: ['a', null] })).toEqual({
      type: 'STRING',
      nullable: true,
      format: 'enum',
      enum: ['a'],
    })
    expect(schemaOf({ type: 'null' })).toEqual({ type: 'NULL' })
  })

  it('writes nothing beside anyOf', () => {
    const schema = {
      description: 'd',
      oneOf: [{ type: 'string' }, { type: 'number', description: 'n' }, { type: 'null' }],
    }
    expect(schemaOf(schema)).toEqual({
      anyOf: [
        { type: 'STRING', description: 'd', nullable: true },
        { type: 'NUMBER', description: 'n', nullable: true },
      ],
    })
    expect(schemaOf({ type: ['string', 'integer'], minLength: 2, minimum: 3 })).toEqual({
      anyOf: [
        { type: 'STRING', minLength: 2 },
        { type: 'INTEGER', minimum: 3 },
      ],
    })
  })

  it('keeps the properties of an object that also has a union', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    }
    expect(write(schema)).toEqual({
      value: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      losses: ['s.anyOf'],
    })
  })

  it('joins allOf', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { $ref: '#/$defs/b' },
      ],
      $defs: { b: { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] } },
    }
    expect(write(schema)).toEqual({
      value: {
        type: 'OBJECT',
        properties: { b: { type: 'NUMBER' }, a: { type: 'STRING' } },
        required: ['a', 'b'],
      },
      losses: [],
    })
  })

  it('replaces references, and cuts a schema that contains itself', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: { name: { $ref: '#/$defs/name' }, next: { $ref: '#/$defs/node' } },
        },
        name: { type: 'string' },
      },
    }
    const { value, losses } = write(schema)
    expect(value).toEqual({
      type: 'OBJECT',
      properties: {
        name: { type: 'STRING' },
        next: {
          type: 'OBJECT',
          properties: { name: { type: 'STRING' }, next: { type: 'OBJECT' } },
        },
      },
    })
    expect(losses).toEqual(['s.properties.next.properties.next.$ref (recursive)'])
    expect(lossesOf({ $ref: 'https://example.com/schema.json' })).toContain('s.$ref')
    expect(lossesOf({ $ref: '#/$defs/__proto__', $defs: {} })).toContain('s.$ref')
    expect(lossesOf({ $ref: '#/%' })).toContain('s.$ref')
  })

  it('bounds a schema whose references multiply', () => {
    const $defs: Record<string, unknown> = { d30: { type: 'string' } }
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/$defs/d${level + 1}` }
      $defs[`d${level}`] = { type: 'object', properties: { a: next, b: next, c: next } }
    }
    const { value, losses } = write({ $ref: '#/$defs/d0', $defs })
    expect(JSON.stringify(value).length).toBeLessThan(1_000_000)
    expect(losses.some((loss) => loss.endsWith('(too deep)'))).toBe(true)
    const circle = { allOf: [{ $ref: '#' }, { $ref: '#' }] }
    expect(schemaOf(circle)).toHaveProperty('type', 'STRING')
  })

  it('reports a limited number of losses, whose paths are cut, below a long name', () => {
    const lost = (count: number) => ({
      type: 'object',
      ...Object.fromEntries(Array.from({ length: count }, (_none, at) => [`k${at}`, at])),
    })
    const name = 'n'.repeat(20_000)
    const long = lossesOf({ properties: { [name]: { ...lost(9), properties: { a: lost(9) } } } })
    expect(long).toEqual([`s.properties.${name.slice(0, 242)}…`])
    const many = lossesOf({ properties: { a: lost(5_000) } })
    expect(many).toHaveLength(1_000)
    expect(lossesOf({ [name]: 1, type: 'object' })).toEqual([`s.${name.slice(0, 253)}…`])
  })

  it('bounds the depth of nested schemas', () => {
    let schema: unknown = { type: 'string' }
    for (let level = 0; level < 200; level += 1) schema = { type: 'array', items: schema }
    expect(lossesOf(schema)).toHaveLength(1)
    let union: unknown = { type: 'string' }
    for (let level = 0; level < 200; level += 1) union = { anyOf: [union, { type: 'number' }] }
    expect(lossesOf(union)).toHaveLength(1)
  })

  it('keeps the type of values that Gemini can’t list', () => {
    expect(schemaOf({ const: 'a' })).toEqual({ type: 'STRING', format: 'enum', enum: ['a'] })
    expect(schemaOf({ const: 3 })).toEqual({ type: 'INTEGER', minimum: 3, maximum: 3 })
    expect(write({ type: 'integer', enum: [1, 2] })).toEqual({
      value: { type: 'INTEGER' },
      losses: ['s.enum'],
    })
    expect(write({ enum: ['', 'a', 7] })).toEqual({
      value: { type: 'STRING', format: 'enum', enum: ['a'] },
      losses: ['s.enum'],
    })
    expect(write({ const: true })).toEqual({ value: { type: 'BOOLEAN' }, losses: ['s.const'] })
  })

  it('gives an array its items, and joins the schemas of a tuple', () => {
    expect(write({ type: 'array' })).toEqual({
      value: { type: 'ARRAY', items: { type: 'STRING' } },
      losses: ['s.items (any type)'],
    })
    expect(write({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] })).toEqual(
      {
        value: {
          type: 'ARRAY',
          minItems: 2,
          maxItems: 2,
          items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
        },
        losses: ['s.prefixItems'],
      },
    )
  })

  it('writes a text for a schema that allows everything', () => {
    for (const schema of [{}, true, undefined, 'odd', { not: { type: 'string' } }]) {
      expect(schemaOf(schema)).toEqual({ type: 'STRING' })
      expect(lossesOf(schema)).toContain('s (any type)')
    }
  })

  it('keeps a property that is called like a member of every object', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(schemaOf(schema))).toBe(
      '{"type":"OBJECT","properties":{"__proto__":{"type":"STRING"}}}',
    )
    const flat = JSON.parse(
      '{"allOf":[{"properties":{"__proto__":{"type":"string"}}},{"title":"t"}]}',
    )
    expect(JSON.stringify(schemaOf(flat))).toContain('"__proto__":{"type":"STRING"}')
  })
})

describe('reading a schema in Gemini’s dialect', () => {
  it('returns a JSON schema', () => {
    const schema = {
      type: 'OBJECT',
      properties: {
        b: { type: 'STRING', nullable: true, format: 'enum', enum: ['x'] },
        a: { type: 'ARRAY', items: { type: 'INTEGER', format: 'int32' }, min_items: '2' },
        any_of: { anyOf: [{ type: 'STRING' }], nullable: true },
      },
      propertyOrdering: ['a', 'b'],
      required: ['a'],
    }
    const read = readGeminiSchema(schema, 'p')
    expect(read).toEqual({
      type: 'object',
      properties: {
        a: { type: 'array', items: { type: 'integer', format: 'int32' }, minItems: 2 },
        b: { type: ['string', 'null'], enum: ['x', null] },
        any_of: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
      required: ['a'],
    })
    expect(Object.keys(read.properties as object)).toEqual(['a', 'b', 'any_of'])
  })

  it('refuses what is no schema', () => {
    expect(() => readGeminiSchema('x', 'p')).toThrow(expect.objectContaining({ param: 'p' }))
    expect(() => readGeminiSchema({ properties: { a: 1 } }, 'p')).toThrow(
      expect.objectContaining({ param: 'p.properties.a' }),
    )
    let schema: unknown = { type: 'STRING' }
    for (let level = 0; level < 100; level += 1) schema = { type: 'ARRAY', items: schema }
    expect(() => readGeminiSchema(schema, 'p')).toThrow('nested too deeply')
  })

  it('is written again as the same schema', () => {
    const schema = {
      type: 'OBJECT',
      description: 'd',
      properties: {
        a: { type: 'STRING', nullable: true, format: 'enum', enum: ['x', 'y'] },
        b: { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] } },
        c: { type: 'INTEGER', format: 'int64', minimum: 1 },
      },
      required: ['a'],
    }
    expect(write(readGeminiSchema(schema, 'p'))).toEqual({ value: schema, losses: [] })
  })
})
