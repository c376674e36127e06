import { createMemoryLimits } from '#infra/limits/memory-limits.ts'
import { limitsSuite } from './limits-suite.ts'

limitsSuite('limits in memory', async (clock) => {
  const limits = createMemoryLimits(() => clock.now)
  return { limits, close: async () => limits.close() }
})
