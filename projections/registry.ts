import { balances } from './balances/projection.ts'
import { callLog } from './call-log/projection.ts'
import { channels } from './channels/projection.ts'
import { openCallsProjection } from './open-calls/projection.ts'
import { options } from './options/projection.ts'
import type { Projection } from './projection.ts'
import { tokens } from './tokens/projection.ts'
import { usageByHour } from './usage-by-hour/projection.ts'
import { users } from './users/projection.ts'

/** Every projection of the product; a new one is a folder and a line here. */
export const PROJECTIONS: readonly Projection[] = [
  users,
  tokens,
  channels,
  options,
  balances,
  callLog,
  usageByHour,
  openCallsProjection,
]
