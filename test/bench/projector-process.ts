import { readConfig } from '#infra/config/read-config.ts'
import type { EventBus, LaneWorker } from '#infra/event-bus/port.ts'
import { startCore } from '#infra/start-core.ts'
import { startProjections } from '#projections/runner/start-projections.ts'

/**
 * Runs a process with projections. The process acquires its share of the lanes, tells its parent
 * process, and processes events after the parent's reply. Parameter: the number of lanes.
 */
const share = Number(process.argv[2])
const started = Promise.withResolvers<void>()
process.once('message', () => started.resolve())
process.once('disconnect', () => process.exit(0))

const { core } = await startCore(readConfig(process.env))
const lanes = new Set<number>()
let isStarted = false

const bus: EventBus = {
  ...core.bus,
  work: (name, worker: LaneWorker) => {
    const work = core.bus.work(name, {
      onGained: async (gained) => {
        for (const lane of gained) lanes.add(lane)
        if (isStarted) await worker.onGained(gained)
        if (lanes.size === share) process.send?.('divided')
      },
      onLost: (lost) => {
        for (const lane of lost) lanes.delete(lane)
        if (isStarted) worker.onLost(lost)
        if (lanes.size === share) process.send?.('divided')
      },
      onBatch: async (batch) => {
        if (isStarted) await worker.onBatch(batch)
      },
    })
    void started.promise.then(() => {
      isStarted = true
      return worker.onGained([...lanes])
    })
    return work
  },
}
await startProjections({ ...core, bus })
