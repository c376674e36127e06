import { MODEST_KEY, RICH_KEY, UNPAID_KEY } from './attacked-keys.ts'
import { relayRig, TOKEN, USER } from './relay-rig.ts'

/**
 * A relay in a separate process, so that its memory can be measured. Its users have enough quota,
 * $0.10 and 0. Its channels take a bounded input, and one slow stream has a price per call.
 * `argv`: `free` makes the model `gratis` free, and a URL is the address of a streaming provider in
 * another process.
 */
const [choice = ''] = process.argv.slice(2)

const rig = await relayRig({}, {}, undefined, { firstByteMs: 1_000 })
const terms = { models: ['fault-nousage', 'gratis'], maxInputTokens: 128_000 }
await rig.addChannel(2, terms)
await rig.addChannel(3, { models: ['per-call'], baseUrl: choice })
await rig.setOption('ModelPrice', { 'per-call': 0.0001 })
await rig.setOption('ModelRatio', {
  'fault-nousage': 2,
  gratis: choice === 'free' ? 0 : 2,
})
await rig.addToken(TOKEN + 1, USER, RICH_KEY)
await rig.addUser(USER + 1)
await rig.addToken(TOKEN + 2, USER + 1, UNPAID_KEY)
await rig.addUser(USER + 2)
await rig.addToken(TOKEN + 3, USER + 2, MODEST_KEY)
await rig.grant(USER + 2, 50_000n)

process.on('message', async (message) => {
  if (message !== 'charges') return
  const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
  process.send?.(ends.map(({ data }) => ('charge' in data ? data.charge : 0)))
})
process.on('disconnect', () => process.exit())
process.send?.(rig.url)
