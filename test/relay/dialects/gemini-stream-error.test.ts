import { expect, it } from 'vitest'
import { GEMINI_ERRORS } from '#relay/dialects/gemini/error-format.ts'

const errorOf = (error: object, isHidden = false) => {
  const bytes = Buffer.from(JSON.stringify({ error: { message: 'm', ...error } }))
  const body = GEMINI_ERRORS.providerErrorBody(bytes, 502, { isHidden, confidential: [] }, 'c')
  const { code, status } = (body as { error: { code: number; status: string } }).error
  return [code, status]
}

it.each([
  ['overloaded_error', 503, 'UNAVAILABLE'],
  ['rate_limit_error', 429, 'RESOURCE_EXHAUSTED'],
  ['timeout_error', 504, 'DEADLINE_EXCEEDED'],
  ['api_error', 502, 'UNAVAILABLE'],
])('the code of %s in a stream is that of its status', (type, code, status) => {
  expect(errorOf({ type })).toEqual([code, status])
})

it('a code of the provider stays, and a hidden error tells nothing', () => {
  expect(errorOf({ code: 500, status: 'INTERNAL' })).toEqual([500, 'INTERNAL'])
  expect(errorOf({ type: 'overloaded_error' }, true)).toEqual([502, 'UNAVAILABLE'])
})

it('Anthropic’s status for an overload is UNAVAILABLE', () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const options = { isHidden: false, confidential: [] }
  const bytes = Buffer.from(JSON.stringify(error))
  expect(GEMINI_ERRORS.providerErrorBody(bytes, 529, options, 'call')).toEqual({
    error: { code: 529, message: 'Overloaded', status: 'UNAVAILABLE' },
  })
})
