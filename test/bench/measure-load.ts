import { closedLoop, type LoadResult, openLoop, quantiles } from './apply-load.ts'
import type { BenchSetup } from './bench-setup.ts'
import { cpuSeconds } from './pinned-processes.ts'

export type TargetName = keyof BenchSetup['targets']
export const TARGET_NAMES = ['direct', 'bare proxy', 'tallygate'] as const

/** One round of one target. The CPU times are in µs per call. */
export type Round = LoadResult & {
  readonly cpuUs: number
  readonly postgresUs: number
  readonly readModelsUs: number
}

export type Rounds = Readonly<Record<TargetName, readonly Round[]>>

export type BenchLength = { readonly rounds: number; readonly seconds: number }

/** Applies as much load as each target can take, one target after another in each round. */
export async function saturate(
  rig: BenchSetup,
  body: string,
  { connections, warmUpCalls }: { readonly connections: number; readonly warmUpCalls: number },
  { rounds, seconds }: BenchLength,
): Promise<Rounds> {
  const run = (name: TargetName) => closedLoop(rig.targets[name], body, { connections, seconds })
  return await interleave(rig, run, { rounds, warmUpCalls })
}

/** Sends calls at a fixed rate per second, to one target after another in each round. */
export async function atRate(
  rig: BenchSetup,
  body: string,
  rate: number,
  { rounds, seconds }: BenchLength,
): Promise<Rounds> {
  const run = (name: TargetName) => openLoop(rig.targets[name], body, { rate, seconds })
  return await interleave(rig, run, { rounds, warmUpCalls: 1 })
}

async function interleave(
  rig: BenchSetup,
  run: (name: TargetName) => Promise<LoadResult>,
  { rounds, warmUpCalls }: { readonly rounds: number; readonly warmUpCalls: number },
): Promise<Rounds> {
  const results: Record<TargetName, Round[]> = { direct: [], 'bare proxy': [], tallygate: [] }
  // The warm-up is a number of calls and not a time, because a slow target would otherwise be
  // measured before its code is compiled.
  for (const name of TARGET_NAMES) {
    for (let calls = 0; calls < warmUpCalls; ) {
      const { count, errors } = await run(name)
      if (count === 0) throw new Error(`${name} answered none of ${errors} calls with success`)
      calls += count
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const name of TARGET_NAMES) {
      const before = cpuOf(rig, name)
      const result = await run(name)
      const after = cpuOf(rig, name)
      const perCall = (part: keyof typeof before) =>
        ((after[part] - before[part]) * 1e6) / Math.max(1, result.count)
      results[name].push({
        ...result,
        cpuUs: perCall('target'),
        postgresUs: perCall('postgres'),
        readModelsUs: perCall('readModels'),
      })
    }
  }
  return results
}

const cpuOf = (rig: BenchSetup, name: TargetName) => ({
  target: cpuSeconds(rig.pids[name]),
  postgres: cpuSeconds(rig.pids.postgres),
  readModels: cpuSeconds(rig.pids.readModels),
})

export const medianOf = (rounds: readonly Round[], read: (round: Round) => number): number =>
  quantiles(rounds.map(read)).p50
