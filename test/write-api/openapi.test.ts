import Type from 'typebox'
import Value from 'typebox/value'
import { beforeAll, describe, expect, it } from 'vitest'
import { createHttpApp } from '#infra/http/app.ts'
import { ErrorEnvelope } from '#read-api/contract/response-envelope.ts'
import { describeChannelActions } from '#relay/channel-actions/routes.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { writeFixture } from './write-fixture.ts'

type Operation = {
  readonly parameters?: { in: string; name: string; required?: boolean }[]
  readonly responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>
  readonly security?: unknown[]
}
type Document = {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: object; responses: Record<string, unknown> }
}

const fixture = startedOnce(writeFixture)
let document: Document

beforeAll(async () => {
  const { body } = await fixture.app.inject({ method: 'GET', url: '/api/openapi.json' })
  document = JSON.parse(body) as Document
})

const operation = (method: string, path: string): Operation => {
  const found = document.paths[path]?.[method]
  if (found === undefined) throw new Error(`${method} ${path} is not described`)
  return found
}
const answers = (method: string, path: string) => Object.keys(operation(method, path).responses)
const headers = (method: string, path: string) =>
  (operation(method, path).parameters ?? [])
    .filter((parameter) => parameter.in === 'header')
    .map(({ name, required = false }) => `${name}${required ? ' required' : ''}`)

it('each schema of the API can be compiled', () => {
  expect(() => fixture.app.compileSchemas()).not.toThrow()
})

it('each schema of the actions of channels can be compiled', async () => {
  const app = await createHttpApp(fixture.core, { findPrincipals: async () => [] })
  describeChannelActions(app)
  await app.ready()
  expect(() => app.compileSchemas()).not.toThrow()
  await app.close()
})

describe('the description of the API', () => {
  it('lists every refusal that a call can get, in the error envelope', () => {
    const common = ['200', '400', '401', '403', '404', '413', '415', '429', '503']
    expect(answers('put', '/api/user/self')).toEqual(common)
    // Only the second route can fail with a conflict.
    expect(answers('put', '/api/user/')).toEqual([...common, '409'].sort())
    expect(answers('get', '/api/channel/{id}')).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '429',
      '503',
    ])
    expect(answers('post', '/api/user/login')).not.toContain('401')
    expect(document.components.responses).toMatchObject({
      Error401: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } },
      },
    })
    expect(document.components.schemas).toMatchObject({
      ErrorEnvelope: JSON.parse(JSON.stringify(ErrorEnvelope)) as object,
    })
  })

  it('states that a rule may refuse a write with status 200', () => {
    expect(operation('post', '/api/token/').responses['200']).toMatchObject({
      content: {
        'application/json': {
          schema: { anyOf: [{ type: 'object' }, { $ref: '#/components/schemas/ErrorEnvelope' }] },
        },
      },
    })
  })

  it('names the headers that a call takes', () => {
    expect(headers('get', '/api/user/self')).toEqual(['User-Id required', 'X-After-Position'])
    expect(headers('post', '/api/token/')).toEqual(['User-Id required'])
    expect(headers('get', '/api/status')).toEqual(['X-After-Position'])
    expect(headers('post', '/api/user/login')).toEqual([])
  })

  it('names the authentication of a call: a session, an access token or none', () => {
    const ways = (path: string) => operation('get', path).security
    expect(ways('/api/user/self')).toEqual([{ session: [] }, { accessToken: [] }])
    expect(ways('/api/audit/verifications')).toEqual([{ session: [] }, { accessToken: [] }])
    expect(ways('/api/user/security')).toEqual([{ session: [] }])
    expect(ways('/api/status')).toEqual([])
  })

  it('has no reference without a target', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(100)
    for (const [, path = ''] of references) {
      let place: unknown = document
      for (const name of path.split('/')) place = (place as Record<string, unknown>)[name]
      expect(place, path).toBeDefined()
    }
  })

  it('matches the refusals that the server sends', async () => {
    for (const url of ['/api/user/self', '/api/channel/x', '/api/log/?p=-1']) {
      const { status, headers: _headers, ...body } = await fixture.anybody('GET', url)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(
        Value.Check(Type.Object(ErrorEnvelope.properties, { additionalProperties: false }), body),
      ).toBe(true)
    }
  })
})
