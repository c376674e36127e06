import { describe, expect, it } from 'vitest'
import { schemaCopiesOf } from '#relay/conversion/gemini/count-copied-schema-bytes.ts'
import { readGeminiSchema } from '#relay/conversion/gemini/read-gemini-schema.ts'
import { toGeminiSchema } from '#relay/conversion/gemini/write-gemini-schema.ts'

/** Writes a schema of a request whose other members have 4 000 bytes. */
const write = (schema: unknown) => {
  const body = Buffer.from(
    `${JSON.stringify({ tools: [{ parameters: schema }] })}${' '.repeat(4_000)}`,
  )
  return toGeminiSchema(schema, 's', schemaCopiesOf(body))
}
const schemaOf = (schema: unknown) => write(schema).value
const lossesOf = (schema: unknown) => write(schema).losses

describe('writing a JSON schema in Gemini’s dialect', () => {
  it('takes a type without a text for no type', () => {
    const { value } = write({ anyOf: [{ type: [{ toString: 1 }] }, { type: 'number' }] })
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
    expect(() => write({ $ref: '#/$defs/d0', $defs })).toThrow(
      expect.objectContaining({ code: 'schema_too_large', param: 's' }),
    )
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

  /** Definitions of many members, each referred to several times. */
  const wide = (members: number, references: number) => {
    const names = Array.from({ length: Math.max(members, references) }, (_none, at) => `m${at}`)
    const B = Object.fromEntries(names.slice(0, members).map((name) => [name, 1]))
    const properties = names.slice(0, references).map((name) => [name, { $ref: '#/$defs/B' }])
    return { properties: Object.fromEntries(properties), $defs: { B: { type: 'string', ...B } } }
  }

  it('bounds the work of copies of schemas with many members', () => {
    expect(lossesOf(wide(500, 10))).toHaveLength(1_000)
    expect(() => write(wide(2_000, 2_000))).toThrow('add too much')
    expect(() => write(wide(20_000, 3_900))).toThrow('add too much')
    const branches = Array.from({ length: 3_000 }, () => ({ $ref: '#/$defs/B' }))
    const { $defs } = wide(20_000, 0)
    expect(() => write({ $defs, anyOf: branches })).toThrow('add too much')
  })

  it('follows no reference of unusual length', () => {
    const $ref = `#/$defs/${'a/'.repeat(400)}`
    expect(lossesOf({ $ref, $defs: { a: {} } })).toContain('s.$ref')
  })

  it('copies a schema that contains itself at most once if the copies are long', () => {
    const node = {
      ...{ type: 'object', description: 'd'.repeat(20_000) },
      properties: Object.fromEntries('abcdefgh'.split('').map((name) => [name, { $ref: '#' }])),
    }
    const { value, losses } = write(node)
    expect(JSON.stringify(value).length).toBeLessThan(130_000)
    expect(losses).toContain('s.properties.h.$ref (recursive)')
  })

  it('does not copy long members of a schema to each schema of its union', () => {
    const description = 'd'.repeat(10_000)
    const anyOf = Array.from({ length: 50 }, (_none, at) => ({ type: 'string', minLength: at }))
    const union = write({ description, anyOf })
    expect(JSON.stringify(union.value).length).toBeLessThan(13_000)
    expect(union.value.anyOf).toHaveLength(50)
    expect(union.losses).toEqual(['s (shared members)'])
    const types = write({ type: ['string', 'integer', 'array', 'boolean'], description })
    expect(JSON.stringify(types.value).split(description)).toHaveLength(2)
  })

  it('writes equal schemas of a union once', () => {
    const properties = { a: { type: 'string', description: 'd' } }
    const type = [...Array(100).fill('object'), 'string']
    expect(schemaOf({ type, properties }).anyOf).toHaveLength(2)
    expect(schemaOf({ anyOf: Array(1_000).fill({}) })).toEqual({ type: 'STRING' })
  })

  it('joins no list in allOf that is too long to be joined many times', () => {
    const names = Array.from({ length: 5_000 }, (_none, index) => `p${index}`)
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    const allOf = [{ required: ['y'] }, { properties: { y: { type: 'string' } } }, {}]
    const { value, losses } = write({ properties, required: names, allOf })
    expect(losses).toEqual(expect.arrayContaining(['s.allOf.required', 's.allOf.properties']))
    expect(value.required).toEqual(names)
    expect(Object.keys(value.properties as object)).not.toContain('y')
  })

  it.each([
    ['names', 'required', Array.from({ length: 200_000 }, (_none, index) => `p${index}`)],
    ['a text', 'pattern', 'a'.repeat(2_000_000)],
  ])('combines nested schemas with many parts and a list of %s', (_case, name, long) => {
    const allOf = Array(60).fill({ [name]: ['y'] })
    let schema: object = { type: 'string', allOf }
    for (let level = 0; level < 20; level += 1) schema = { anyOf: [schema], allOf }
    const startedAt = performance.now()
    expect(lossesOf({ ...schema, [name]: long })).toContain(`s.allOf.${name}`)
    expect(performance.now() - startedAt).toBeLessThan(3_000)
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
