import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { kafkaForTests } from '#test/support/kafka/kafka-for-tests.ts'

const kafka = await kafkaForTests()
const place = 'skip' in kafka ? `skipped, ${kafka.skip}` : kafka.kind
const brokers = 'skip' in kafka ? [] : kafka.brokers
afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})

const QUEUE = 'kafkajs/src/network/requestQueue/index.js'
const CLIENT = import.meta.resolve('#infra/event-bus/kafka/kafka-client.ts')
const TIMINGS = import.meta.resolve('#infra/event-bus/kafka/kafka-timings.ts')

/**
 * A program that prints how often kafkajs checked an idle queue. It runs in a separate process,
 * because Node prints the warning only once per process.
 */
const PROGRAM = `
  import { createRequire } from 'node:module'
  import { setTimeout as delay } from 'node:timers/promises'
  import { createKafkaClient } from '${CLIENT}'
  import { KAFKA_TIMINGS } from '${TIMINGS}'
  const queue = createRequire('${CLIENT}')('${QUEUE}').prototype
  const check = queue.checkPendingRequests
  let looks = 0
  queue.checkPendingRequests = function () {
    looks += 1
    check.call(this)
  }
  const log = { debug() {} }
  const admin = createKafkaClient(${JSON.stringify(brokers)}, KAFKA_TIMINGS, log).admin()
  await admin.connect()
  const clusters = await Promise.all(Array.from({ length: 50 }, () => admin.describeCluster()))
  await delay(100)
  looks = 0
  await delay(500)
  console.log(JSON.stringify({ answered: clusters.length, looks }))
  await admin.disconnect()
`

describe.skipIf('skip' in kafka)(`a connection of kafkajs (${place})`, () => {
  it('does not wake up while it is idle, and Node warns of no timer', async () => {
    const args = ['--input-type=module', '-e', PROGRAM]
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
    expect(JSON.parse(stdout)).toEqual({ answered: 50, looks: 0 })
    expect(stderr).toBe('')
  })
})
