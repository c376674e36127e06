import { defineConfig } from 'vitest/config'
import { MixedOrder } from './test/support/mixed-order.ts'
import { SkipReporter } from './test/support/skip-reporter.ts'

const shared = {
  testTimeout: 30_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  // A condition is waited for as long as a busy machine may take; a right one comes at once.
  expect: { poll: { timeout: 15_000 } },
}

export default defineConfig({
  test: {
    // Two cores: most tests wait for leases, brokers and browsers much of their time.
    maxWorkers: process.env.CI ? 3 : 2,
    reporters: ['default', new SkipReporter()],
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: MixedOrder },
    projects: [
      {
        test: {
          ...shared,
          name: 'servers',
          setupFiles: ['test/support/cheap-hashes.ts'],
          // Brokers, databases and clocks on two busy cores: what is wrong is wrong thrice.
          retry: process.env.CI ? 2 : 0,
          include: ['test/**/*.test.ts'],
          exclude: ['test/console/**', 'test/chaos/**'],
        },
      },
      {
        // Browsers too, and they are the busiest.
        test: {
          ...shared,
          name: 'console',
          include: ['test/console/**/*.test.{ts,tsx}'],
          retry: process.env.CI ? 2 : 0,
        },
      },
      { test: { ...shared, name: 'chaos', include: ['test/chaos/**/*.test.ts'] } },
    ],
  },
})
