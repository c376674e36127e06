import Type from 'typebox'
import { ErrorEnvelope } from './contract/response-envelope.ts'
import type { App } from './read-dependencies-and-query-parameters.ts'

/**
 * `GET /api/openapi.json`: the OpenAPI document, generated from the schemas of the write API and
 * the read API.
 */
export function describeApi(app: App): void {
  app.get(
    '/api/openapi.json',
    { schema: { response: { 200: Type.Unknown() }, hide: true } },
    async () => withErrors(app.swagger() as Document),
  )
}

type Content = { 'application/json'?: { schema?: unknown } }
type Response = { readonly $ref: string } | { readonly content?: Content }
type Operation = {
  readonly parameters?: readonly { readonly in: string }[]
  readonly requestBody?: unknown
  readonly security?: readonly unknown[]
  readonly responses?: Readonly<Record<string, Response>>
}
type Document = {
  readonly components?: object
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const ERROR_SCHEMA = { $ref: '#/components/schemas/ErrorEnvelope' }

const ERROR_DESCRIPTIONS: Readonly<Record<string, string>> = {
  400: 'The request is malformed; the message names the field',
  401: 'There is no valid session, or User-Id does not match its user',
  403: 'The role is insufficient, or the request comes from another site',
  404: 'The object does not exist or belongs to another user',
  409: 'The object has changed since it was read; read it again',
  413: 'The body is too large',
  415: 'The body is not application/json',
  429: 'Too many requests; Retry-After contains the delay',
  503: 'The server is draining or overloaded; Retry-After contains the delay',
}

function withErrors({ components, paths = {}, ...document }: Document): object {
  const errorResponses = Object.entries(ERROR_DESCRIPTIONS).map(([status, description]) => [
    `Error${status}`,
    { description, content: { 'application/json': { schema: ERROR_SCHEMA } } },
  ])
  const completePaths = Object.entries(paths).map(([path, operations]) => {
    const answers = Object.entries(operations).map(([method, operation]) => [
      method,
      { ...operation, responses: responsesOf(method, operation) },
    ])
    return [path, Object.fromEntries(answers)]
  })
  return {
    ...document,
    components: {
      ...components,
      schemas: { ErrorEnvelope },
      responses: Object.fromEntries(errorResponses),
    },
    paths: Object.fromEntries(completePaths),
  }
}

function responsesOf(method: string, operation: Operation): Record<string, unknown> {
  const { responses = {}, parameters = [], requestBody, security = [] } = operation
  const hasBody = requestBody !== undefined
  const hasObjectId = hasBody || parameters.some((parameter) => parameter.in === 'path')
  // Only routes that declare status 409 list this status. No other route can fail because of a
  // concurrent change.
  const { 409: conflict, ...declared } = responses
  const statuses = [
    ...(hasBody || parameters.length > 0 ? ['400'] : []),
    ...(security.length > 0 ? ['401'] : []),
    '403',
    ...(hasObjectId ? ['404'] : []),
    ...(conflict === undefined ? [] : ['409']),
    ...(hasBody ? ['413', '415'] : []),
    '429',
    '503',
  ]
  const errors = statuses.map((status) => [
    status,
    { $ref: `#/components/responses/Error${status}` },
  ])
  const answers = method === 'get' ? declared : mapOf(declared, orError)
  return { ...answers, ...Object.fromEntries(errors) }
}

/**
 * Adds the schema of errors to the schema of a successful response. A response to a violation of a
 * business rule also has status 200, so clients must check `success`.
 */
function orError(answer: Response): Response {
  const schema = 'content' in answer ? answer.content?.['application/json']?.schema : undefined
  if (schema === undefined) return answer
  return {
    ...answer,
    content: { 'application/json': { schema: { anyOf: [schema, ERROR_SCHEMA] } } },
  }
}

const mapOf = <T>(record: Readonly<Record<string, T>>, change: (value: T) => T) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
