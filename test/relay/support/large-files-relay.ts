import type { Recorded } from '#domain/shared/event.ts'
import type { TaskEvent } from '#domain/tasks/events.ts'
import { openTasksOf } from '../tasks/tasks-rig.ts'
import { noProgress, type RelayRig, relayRig } from './relay-rig.ts'

/**
 * A relay with files for batches and with videos in a separate process, so that its memory can be
 * measured. `argv` has the address of the provider, and the folder for the files of uploads.
 */
const [baseUrl = '', folder = ''] = process.argv.slice(2)

let rig: RelayRig | null = null
const findOpenTasks = async () => {
  const events = (await rig?.core.store.readAll(0, 10_000)) ?? []
  return openTasksOf(
    events.filter(({ stream }) => stream.startsWith('task-')) as Recorded<TaskEvent>[],
  )
}
const pollTimes = { everyMs: 50, staleMs: 600_000 }
const tasks = { progress: noProgress, findOpenTasks, pollTimes }
const made = await relayRig({ tasks }, { DATA_DIR: folder })
rig = made
await made.addChannel(2, { type: 1, baseUrl, models: ['letters'], priority: 9 })
await made.addChannel(55, { type: 55, baseUrl, models: ['sora-2'] })
await made.setOption('ModelRatio', { letters: 1 })
await made.setOption('TaskEnabled', 'true')

process.on('message', async () => {
  process.send?.((await made.callEvents()).filter(({ type }) => /Settled|Released/.test(type)))
})
process.on('disconnect', () => process.exit())
process.send?.(made.url)
