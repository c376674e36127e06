import type { ReactElement } from 'react'
import type { LogEntry } from '#read-api/contract/log.ts'
import { AttemptWaterfall } from './attempt-waterfall.tsx'
import { LogFacts } from './log-facts.tsx'
import { otherOf } from './log-other.ts'
import { PriceTable } from './price-table.tsx'

/** An expanded row: the price explained, the facts of the call, the tries for admins. */
export function LogDetails(props: { row: LogEntry; isAdmin: boolean }): ReactElement {
  const other = otherOf(props.row)
  return (
    <div className="tg-log-details">
      {(other.price !== undefined || props.row.request_id !== '') && <PriceTable row={props.row} />}
      <div className="tg-log-aside">
        <LogFacts row={props.row} />
        {props.isAdmin && <AttemptWaterfall other={other} />}
      </div>
    </div>
  )
}
