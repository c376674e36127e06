import { defineConfig } from 'vitest/config'
import { SkipReporter } from './test/support/skip-reporter.ts'
import { TestFileOrder } from './test/support/test-file-order.ts'

/** Tests that run the product in their own process, and change nothing of it. */
const IN_PROCESS = 'test/{domain,projections,read-api,relay,write-api}/**/*.test.ts'
const IN_PROCESS_INFRA =
  'test/infra/{http,leases,limits,mail,outbound,provider-messages,task-progress,transparency-log,vault}/*.test.ts'

/** Tests among them that start or kill processes, or that measure memory or speed. */
const PROCESSES = [
  'test/projections/{crashes,lanes,two-projection-processes}.test.ts',
  'test/relay/{bad-input,caller-disconnects,channel-selection-speed}.test.ts',
  'test/relay/{circuits-in-two-relays,clock-skew,disabled-channel,hostile-bodies}.test.ts',
  'test/relay/{large-audio,overdraft-two-relays,slow-readers,two-relays,usage-chunks}.test.ts',
  'test/relay/{large-files,requests-without-database}.test.ts',
  'test/relay/batches/{uploads,second-channel}-after-kill.test.ts',
  'test/relay/clients/long-streams-of-each-format.test.ts',
  'test/relay/{idempotency/idempotency-after-kill,tasks/tasks-in-two-relays}.test.ts',
  'test/relay/{realtime/realtime-after-kill,batches/{,gemini-,openai-}batches-after-kill}.test.ts',
]

/** Tests of the infrastructure that can run one after the other in one process. */
const SHARED_INFRA = [
  'test/infra/{config,postgres,redis,telemetry}/*.test.ts',
  'test/infra/{random-uuids,shutdown-drain,start-error,stop-on-signals}.test.ts',
  'test/infra/demo/{chat-client-page,seed}.test.ts',
  'test/infra/audit-program/{earlier-checkpoints,export-folder,nightly-verification}.test.ts',
  'test/infra/audit-program/{receipts,receipt-files,state-after-last-verification,stored-record}.test.ts',
  'test/infra/audit-program/{trusted-log-keys,verification-report-text}.test.ts',
  'test/infra/audit-program/{select-accounts-to-compare,wrong-arguments}.test.ts',
  'test/infra/event-bus/{kafka-{lane-leases,messages,request-queue},lane-*}.test.ts',
  'test/infra/event-store/{memory-event-store,recent-events-buffer,stream-actors}.test.ts',
  'test/infra/event-store/{postgres-{actors,event-store,locks},two-writers-*}.test.ts',
  'test/infra/event-store/eventstoredb-{actors,cluster,health-probe,server,store}.test.ts',
]

/** Tests of the whole product that run it in their own process, and change nothing of it. */
const SHARED_E2E = [
  'test/e2e/{audit,channels,console,correction,scratch-copy}-in-browser.test.ts',
  'test/e2e/{accounts,other-login-methods,redeem-chat-export-message}.test.ts',
  'test/e2e/{top-up,two-step-login,explained-call,look-up-quota,margin,unit-of-video-price}.test.ts',
  'test/e2e/{relay-and-bill-call,request-targets}.test.ts',
]

const shared = {
  // A busy machine takes several times as long as a quiet one, most of all to start processes.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  pool: 'forks' as const,
  // A test that fails now and then is a bug, in the test or in the product.
  retry: 0,
  // A condition is waited for as long as a busy machine may take; a right one comes at once.
  expect: { poll: { timeout: 45_000 } },
}

const onServers = {
  ...shared,
  setupFiles: ['test/support/cheap-password-hashes.ts'],
  // Node runs these files as it runs the product: from source, with compiled code cached.
  experimental: { viteModuleRunner: false, nodeLoader: false },
}

export default defineConfig({
  test: {
    // For two cores: tests wait for leases, brokers and browsers about half of their time.
    maxWorkers: process.env.CI ? 4 : 2,
    reporters: ['default', new SkipReporter()],
    globalSetup: ['test/support/global-setup.ts'],
    sequence: { sequencer: TestFileOrder },
    projects: [
      {
        test: {
          ...onServers,
          name: 'servers',
          include: ['test/{architecture,e2e,infra}/**/*.test.ts', ...PROCESSES],
          exclude: [IN_PROCESS_INFRA, ...SHARED_INFRA, ...SHARED_E2E],
        },
      },
      {
        test: {
          ...onServers,
          name: 'infra',
          isolate: false,
          restoreMocks: true,
          include: SHARED_INFRA,
        },
      },
      {
        test: {
          ...onServers,
          name: 'e2e',
          // A worker loads the product once and starts one browser.
          isolate: false,
          restoreMocks: true,
          include: SHARED_E2E,
        },
      },
      {
        test: {
          ...onServers,
          name: 'in-process',
          // A worker runs one file after the other and loads the product once, which costs more
          // than most of these files do. A file that changes its process puts that back.
          isolate: false,
          // Tests allocate much that lives for one test. With a larger young generation of the heap,
          // they spend a tenth less CPU time, because it is collected less often.
          execArgv: ['--min-semi-space-size=32'],
          restoreMocks: true,
          include: [IN_PROCESS, IN_PROCESS_INFRA],
          exclude: PROCESSES,
        },
      },
      {
        test: {
          ...shared,
          name: 'console',
          // A worker starts one browser, in which the code of the console stays compiled.
          isolate: false,
          restoreMocks: true,
          unstubGlobals: true,
          include: ['test/console/**/*.test.{ts,tsx}'],
        },
      },
      { test: { ...shared, name: 'chaos', include: ['test/chaos/**/*.test.ts'] } },
    ],
  },
})
