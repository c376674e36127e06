import { RICH_KEY, UNPAID_KEY } from './attacked-keys.ts'
import { relayRig, TOKEN, USER } from './relay-rig.ts'

/**
 * A relay in a process of its own, so that its memory can be measured: a user who can pay, one with
 * a balance of 0, and channels that take a bounded input. Its provider never says usage.
 */
const rig = await relayRig({}, {}, undefined, { firstByteMs: 1_000 })
const terms = { models: ['fault-nousage', 'gratis'], maxInputTokens: 128_000 }
await rig.addChannel(2, terms)
await rig.setOption('ModelRatio', {
  'fault-nousage': 2,
  gratis: process.argv.includes('free') ? 0 : 2,
})
await rig.addToken(TOKEN + 1, USER, RICH_KEY)
await rig.addUser(USER + 1)
await rig.addToken(TOKEN + 2, USER + 1, UNPAID_KEY)

process.on('message', async (message) => {
  if (message !== 'charges') return
  const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
  process.send?.(ends.map(({ data }) => ('charge' in data ? data.charge : 0)))
})
process.on('disconnect', () => process.exit())
process.send?.(rig.url)
