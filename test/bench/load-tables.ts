import { medianOf, type Round, type Rounds, TARGET_NAMES } from './measure-load.ts'
import type { Table } from './results-file.ts'

/** A kind of load, such as `plain, 1 KB`, and its rounds. */
export type MeasuredLoad = { readonly load: string; readonly rounds: Rounds }

const cpuUs = (round: Round): number => round.cpuUs
const perSecond = ({ count, seconds }: Round): number => count / seconds

/** Shows medians. `best` is the round of least CPU. `stream` says what a stream consists of. */
export const saturationTable = (measured: readonly MeasuredLoad[], stream: string): Table => ({
  title: `As fast as the connections go (a stream has ${stream})`,
  head: [
    ...['load', 'target', 'calls/s', 'p50 ms', 'p99 ms', 'CPU µs', 'best', '÷ bare proxy'],
    ...['Postgres µs', 'read models µs', 'errors'],
  ],
  rows: measured.flatMap(({ load, rounds }) => {
    const bare = medianOf(rounds['bare proxy'], cpuUs)
    return TARGET_NAMES.map((name) => {
      const all = rounds[name]
      const median = (read: (round: Round) => number, digits: number) =>
        medianOf(all, read).toFixed(digits)
      const isOurs = name === 'tallygate'
      return [
        load,
        name,
        median(perSecond, 0),
        median(({ totalUs }) => totalUs.p50 / 1_000, 2),
        median(({ totalUs }) => totalUs.p99 / 1_000, 2),
        median(cpuUs, 0),
        Math.min(...all.map(cpuUs)).toFixed(0),
        (medianOf(all, cpuUs) / bare).toFixed(2),
        isOurs ? median(({ postgresUs }) => postgresUs, 0) : '',
        isOurs ? median(({ readModelsUs }) => readModelsUs, 0) : '',
        String(errorsOf(all)),
      ]
    })
  }),
})

/** Shows medians. The added time is the time to the first byte minus that of the provider alone. */
export const rateTable = (measured: readonly MeasuredLoad[]): Table => ({
  title: 'At a fixed rate, no process pinned',
  head: [
    ...['load', 'target', 'added first byte p50 ms', 'p99 ms', 'CPU µs/call', 'Postgres µs'],
    ...['read models µs', 'errors'],
  ],
  rows: measured.flatMap(({ load, rounds }) =>
    TARGET_NAMES.slice(1).map((name) => {
      const all = rounds[name]
      const added = (part: 'p50' | 'p99') => {
        const firstByte = ({ firstByteUs }: Round) => firstByteUs[part] / 1_000
        return (medianOf(all, firstByte) - medianOf(rounds.direct, firstByte)).toFixed(2)
      }
      const isOurs = name === 'tallygate'
      return [
        load,
        name,
        added('p50'),
        added('p99'),
        medianOf(all, cpuUs).toFixed(0),
        isOurs ? medianOf(all, ({ postgresUs }) => postgresUs).toFixed(0) : '',
        isOurs ? medianOf(all, ({ readModelsUs }) => readModelsUs).toFixed(0) : '',
        String(errorsOf(all)),
      ]
    }),
  ),
})

const errorsOf = (rounds: readonly Round[]): number =>
  rounds.reduce((sum, { errors }) => sum + errors, 0)
