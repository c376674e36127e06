import { BackendTerminatedUnexpectedlyError, ConnectionError } from 'slonik'
import { expect, it } from 'vitest'
import { DatabaseUnavailable } from '#infra/postgres/query-timeouts.ts'
import { isOutage } from '#projections/runner/fold-events.ts'

const withCode = (code: string): Error => Object.assign(new Error('from the database'), { code })

it.each([
  ['no answer in time', new DatabaseUnavailable('Query read timeout')],
  ['a connection that was refused', withCode('ECONNREFUSED')],
  ['a server that stops', withCode('57P01')],
  ['a server that is full', withCode('53300')],
  ['a conflict of transactions', withCode('40001')],
  ['a connection that ended', new Error('Connection terminated unexpectedly')],
  ['a driver that lost its server', new ConnectionError('lost')],
  ['a backend that died', new BackendTerminatedUnexpectedlyError(new Error('died'))],
])('%s is retried and does not count against the event', (_what, error) => {
  expect(isOutage(error)).toBe(true)
})

it.each([
  ['a value too large', withCode('22003')],
  ['a row twice', withCode('23505')],
  ['a column that is not there', withCode('42703')],
  ['a fault of a handler', new TypeError('cannot read properties of undefined')],
])('%s stops the projection', (_what, error) => {
  expect(isOutage(error)).toBe(false)
})
