import type { ReactElement } from 'react'
import { otherOf } from '#console/api/logs.ts'
import type { LogEntry } from '#read-api/contract/logs.ts'
import { AttemptWaterfall } from './attempt-waterfall.tsx'
import { FailureAccount } from './failure-account.tsx'
import { LogFacts } from './log-facts.tsx'
import { ERROR } from './log-type.ts'
import { PriceTable } from './price-table.tsx'

/** The details of a row: price or cause of failure, further facts and, for admins, the attempts. */
export function LogDetails(props: { row: LogEntry; isAdmin: boolean }): ReactElement {
  const other = otherOf(props.row)
  const isFailed = props.row.type === ERROR
  const isCall = other.price !== undefined || props.row.request_id !== ''
  return (
    <div className="tg-log-details">
      {isFailed && <FailureAccount row={props.row} />}
      {!isFailed && isCall && <PriceTable row={props.row} />}
      <div className="tg-log-aside">
        <LogFacts row={props.row} />
        {props.isAdmin && <AttemptWaterfall row={props.row} />}
      </div>
    </div>
  )
}
