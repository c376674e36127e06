import Type from 'typebox'
import { Refused } from './contract/envelope.ts'
import type { App } from './question.ts'

/** `GET /api/openapi.json`: every route of the write and read APIs, from the schemas they use. */
export function describeApi(app: App): void {
  app.get(
    '/api/openapi.json',
    { schema: { response: { 200: Type.Unknown() }, hide: true } },
    async () => withRefusals(app.swagger() as Document),
  )
}

type Content = { 'application/json'?: { schema?: unknown } }
type Answer = { readonly $ref: string } | { readonly content?: Content }
type Operation = {
  readonly parameters?: readonly { readonly in: string }[]
  readonly requestBody?: unknown
  readonly security?: readonly unknown[]
  readonly responses?: Readonly<Record<string, Answer>>
}
type Document = {
  readonly components?: object
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const REFUSED = { $ref: '#/components/schemas/Refused' }

const REFUSALS: Readonly<Record<string, string>> = {
  400: 'Malformed; the message names the field',
  401: 'No valid session, or User-Id is not its user',
  403: 'Not your role, or a request from another site',
  404: 'No such object, or not yours',
  409: 'What the change was made for has changed since: read it again',
  413: 'The body is too large',
  415: 'The body is not application/json',
  429: 'Too many; Retry-After says when to come back',
  503: 'Draining or overloaded; Retry-After says when to come back',
}

/** The same document with the errors that every route has in common. */
function withRefusals({ components, paths = {}, ...document }: Document): object {
  const named = Object.entries(REFUSALS).map(([status, description]) => [
    `Refused${status}`,
    { description, content: { 'application/json': { schema: REFUSED } } },
  ])
  const described = Object.entries(paths).map(([path, operations]) => {
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
      schemas: { Refused },
      responses: Object.fromEntries(named),
    },
    paths: Object.fromEntries(described),
  }
}

function responsesOf(method: string, operation: Operation): Record<string, unknown> {
  const { responses = {}, parameters = [], requestBody, security = [] } = operation
  const hasBody = requestBody !== undefined
  const namesAnObject = hasBody || parameters.some((parameter) => parameter.in === 'path')
  // A route that can be refused by what has changed since says so itself.
  const { 409: moved, ...own } = responses
  const statuses = [
    ...(hasBody || parameters.length > 0 ? ['400'] : []),
    ...(security.length > 0 ? ['401'] : []),
    '403',
    ...(namesAnObject ? ['404'] : []),
    ...(moved === undefined ? [] : ['409']),
    ...(hasBody ? ['413', '415'] : []),
    '429',
    '503',
  ]
  const errors = statuses.map((status) => [
    status,
    { $ref: `#/components/responses/Refused${status}` },
  ])
  const answers = method === 'get' ? own : mapOf(own, orRefused)
  return { ...answers, ...Object.fromEntries(errors) }
}

/** A rule of the business says no with 200 as well: `success` tells the two apart. */
function orRefused(answer: Answer): Answer {
  const schema = 'content' in answer ? answer.content?.['application/json']?.schema : undefined
  if (schema === undefined) return answer
  return { ...answer, content: { 'application/json': { schema: { anyOf: [schema, REFUSED] } } } }
}

const mapOf = <T>(record: Readonly<Record<string, T>>, change: (value: T) => T) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
