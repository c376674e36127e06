import { relayRig } from './relay-rig.ts'

/**
 * A relay in a separate process, so that its memory can be measured. `argv` has the address of the
 * provider, and the folder for the files of uploads.
 */
const [baseUrl = '', folder = ''] = process.argv.slice(2)

const rig = await relayRig({}, { DATA_DIR: folder })
await rig.addChannel(2, { type: 8, baseUrl, models: ['letters', 'sounds', 'pictures'] })
await rig.setOption('ModelPrice', { pictures: 0.02 })
// At a low price no text is counted before a call, since the counter's dictionary takes memory.
await rig.setOption('ModelRatio', { letters: 0.01, sounds: 0.3 })
await rig.setOption('CompletionRatio', { sounds: 20 })
await rig.setOption('AudioCompletionRatio', { sounds: 20 })

process.on('message', async () => {
  process.send?.((await rig.callEvents()).filter(({ type }) => /Settled|Released/.test(type)))
})
process.on('disconnect', () => process.exit())
process.send?.(rig.url)
