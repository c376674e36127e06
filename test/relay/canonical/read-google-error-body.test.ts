import { describe, expect, it } from 'vitest'
import {
  errorOutOfList,
  retryAfterInBody,
} from '#relay/canonical/retry-delay-and-list-form-of-google-errors.ts'

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value, null, 2))
const error = { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED' }
const TYPE = 'type.googleapis.com/google.rpc.RetryInfo'
const withDelay = (retryDelay: unknown) => ({
  error: { ...error, details: [{ '@type': 'x' }, null, { '@type': TYPE, retryDelay }] },
})

describe('the delay in the body of a Google error', () => {
  it.each([
    ['36s', 36_000],
    ['12.5s', 12_500],
    ['0.0001s', 1],
    ['999999s', 3_600_000],
    ['0s', 0],
    ['-3s', 0],
    ['soon', 0],
    [36, 0],
  ])('%s is %i ms', (retryDelay, delayMs) => {
    expect(retryAfterInBody(bytes(withDelay(retryDelay)))).toBe(delayMs)
  })

  it.each([
    ['no error', { retryDelay: '5s' }],
    ['no list of details', { error: { details: { retryDelay: '5s' } } }],
    ['a list', [withDelay('5s')]],
  ])('is not read from %s', (_name, body) => {
    expect(retryAfterInBody(bytes(body))).toBe(0)
  })

  it('is not read from a body that is no JSON', () => {
    expect(retryAfterInBody(Buffer.from('"retryDelay": "5s"'))).toBe(0)
  })
})

describe('a list with one error', () => {
  it('is replaced by the error', () => {
    const list = Buffer.from(`\n  ${JSON.stringify([{ error }])}\n`)
    expect(JSON.parse(errorOutOfList(list).toString())).toEqual({ error })
  })

  it.each([
    ['an error', { error }],
    ['an empty list', []],
    ['a list of two errors', [{ error }, { error }]],
    ['a list of texts', ['error']],
  ])('is not found in %s', (_name, value) => {
    const body = bytes(value)
    expect(errorOutOfList(body)).toBe(body)
  })

  it('is not found in a body that is cut off', () => {
    const body = Buffer.from('[{"error":{"code":429')
    expect(errorOutOfList(body)).toBe(body)
  })
})
