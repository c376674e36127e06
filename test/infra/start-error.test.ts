import { mkdirSync } from 'node:fs'
import { DatabaseError } from 'pg'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '#infra/config/config-types.ts'
import { describeStartError } from '#infra/start-error.ts'

const withCode = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code })

const listening = (message: string, code: string): Error =>
  Object.assign(withCode(message, code), { isListenError: true })

const fromDatabase = (message: string, code: string): Error =>
  Object.assign(new DatabaseError(message, message.length, 'error'), { code })

describe('an error that an operator can fix gives one line that names the variable', () => {
  it.each([
    ['a taken port', withCode('listen EADDRINUSE :::3000', 'EADDRINUSE'), 'PORT: '],
    ['a host of others', listening('listen EADDRNOTAVAIL', 'EADDRNOTAVAIL'), 'HOST: '],
    ['a host that is none', listening('getaddrinfo ENOTFOUND x', 'ENOTFOUND'), 'HOST: '],
    ['a port for root alone', listening('listen EACCES 0.0.0.0:80', 'EACCES'), 'PORT: '],
    ['a wrong password', fromDatabase('password authentication failed', '28P01'), 'DATABASE_URL: '],
    ['no such database', fromDatabase('database "x" does not exist', '3D000'), 'DATABASE_URL: '],
    ['a server that is full', fromDatabase('too many clients already', '53300'), 'DATABASE_URL: '],
    ['nobody there', withCode('connect ECONNREFUSED', 'ECONNREFUSED'), 'DATABASE_URL: '],
    ['a name that is none', withCode('getaddrinfo ENOTFOUND db', 'ENOTFOUND'), 'DATABASE_URL: '],
    ['nobody who answers', new Error('timeout expired'), 'DATABASE_URL: '],
    ['a connection that broke', new Error('Connection terminated unexpectedly'), 'DATABASE_URL: '],
    ['a variable that is wrong', new ConfigError('REDIS_URL', 'must look so'), 'REDIS_URL'],
  ])('%s', (_what, error, named) => {
    const words = describeStartError(error)
    expect(words).toContain(`Tallygate can't start. ${named}`)
    expect(words).not.toContain('\n')
  })
})

it('the error for a name with several addresses has the reason of each address', () => {
  const error = Object.assign(
    new AggregateError([new Error('connect ::1 refused'), new Error('connect 127.0.0.1 refused')]),
    { code: 'ECONNREFUSED' },
  )
  expect(describeStartError(error)).toContain('connect ::1 refused; connect 127.0.0.1 refused')
})

it('a file that the system refuses gives one line that names it', () => {
  const folder = '/dev/null/export'
  expect(() => mkdirSync(folder, { recursive: true })).toThrow(
    expect.toSatisfy((error) => {
      const line = describeStartError(error)
      return line.includes(folder) && !line.includes('\n')
    }),
  )
})

it('an error that was already explained stays unchanged', () => {
  const error = Object.assign(new Error('a worker said why'), { isExplained: true })
  expect(describeStartError(error)).toBe('a worker said why')
})

it('the error of a bug contains the place where it happened', () => {
  expect(describeStartError(fromDatabase('syntax error', '42601'))).toContain('start-error.test.ts')
  expect(describeStartError(new TypeError('x is no function'))).toContain('start-error.test.ts')
  expect(describeStartError('thrown text')).toBe('thrown text')
})
