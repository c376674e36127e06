import { describe } from 'vitest'
import { testProduct } from '../support/test-product.ts'
import { mainJobSuite } from './relay-and-bill-call-suite.ts'

describe('the main job on one Postgres', () => {
  mainJobSuite(() => testProduct())
})
