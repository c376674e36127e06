import { describe } from 'vitest'
import { testProduct } from '../support/test-product.ts'
import { mainJobSuite } from './relay-and-bill-call-suite.ts'

describe('relaying and billing a call on one Postgres', () => {
  mainJobSuite(() => testProduct())
})
