import { describe } from 'vitest'
import { testProduct } from '../support/product.ts'
import { mainJobSuite } from './main-job-suite.ts'

describe('the main job on one Postgres', () => {
  mainJobSuite(() => testProduct())
})
