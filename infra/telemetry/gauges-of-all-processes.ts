import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { ensureSchema } from '../postgres/ensure-schema.ts'

export type GaugeValues = Readonly<Record<string, number>>

/**
 * Shares values that processes publish about themselves. A value expires after ten seconds. The
 * values are only displayed, and no decision depends on them.
 */
export type Gauges = {
  /**
   * Publishes the values of this process under a name. The values replace those that the process
   * published under this name before.
   */
  readonly report: (name: string, values: GaugeValues) => Promise<void>
  /**
   * Returns the values under this name, one entry per process that has published values within the
   * last ten seconds.
   */
  readonly read: (name: string) => Promise<readonly GaugeValues[]>
  readonly retire: (name: string) => Promise<void>
}

/** The time in milliseconds without a publication after which a process counts as ended. */
const GAUGE_TTL_MS = 10_000

const DDL = `
  create unlogged table if not exists gauges.reports (
    name text,
    instance uuid,
    data text not null,
    at timestamptz not null,
    primary key (name, instance)
  ) with (fillfactor = 25)`

export async function createGauges(pg: Pool): Promise<Gauges> {
  await ensureSchema(pg, 'gauges', DDL)
  const instance = randomUUID()
  return {
    report: async (name, values) => {
      await pg.query({
        name: 'gauge-report',
        text: `insert into gauges.reports (name, instance, data, at)
               values ($1, $2, $3, clock_timestamp())
               on conflict (name, instance) do update set data = excluded.data, at = excluded.at`,
        values: [name, instance, JSON.stringify(values)],
      })
    },
    read: async (name) => {
      const { rows } = await pg.query<{ data: string }>({
        name: 'gauge-read',
        text: `select data from gauges.reports
               where name = $1 and at > clock_timestamp() - $2 * interval '1 millisecond'`,
        values: [name, GAUGE_TTL_MS],
      })
      return rows.map(({ data }) => JSON.parse(data) as GaugeValues)
    },
    retire: async (name) => {
      await pg.query({
        name: 'gauge-retire',
        text: `delete from gauges.reports where name = $1
               and (instance = $2 or at < clock_timestamp() - interval '1 hour')`,
        values: [name, instance],
      })
    },
  }
}
