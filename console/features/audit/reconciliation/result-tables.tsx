import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { LabelledValues, type NamedValue } from '#console/ui/elements/labelled-value.tsx'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'
import { userText, useUserNames } from '../elements/user-names.ts'

/** Shows the main figures of a result side by side. */
export const Figures = ({ figures }: { figures: readonly NamedValue[] }) => (
  <LabelledValues className="tg-reconciliation-figures" values={figures} />
)

/** A part of a result with a heading. */
export function ResultPart(props: { title: string; children: ReactNode }) {
  return (
    <section className="tg-reconciliation-part">
      <h3>{props.title}</h3>
      {props.children}
    </section>
  )
}

export const CallLink = ({ requestId }: { requestId: string }) => (
  <Link to={`/app/calls/${encodeURIComponent(requestId)}`} title={requestId}>
    <code>{requestId}</code>
  </Link>
)

/**
 * Links to the ledger of a user. If `name` is undefined, such as while it loads, the link shows the
 * id of the user.
 */
export const UserLink = ({ id, name }: { id: number; name: string | undefined }) => {
  const { t } = useTranslation()
  return (
    <Link to={`/app/audit/ledgers/${id}`}>
      {name === undefined ? `#${id}` : userText(t, id, name)}
    </Link>
  )
}

type CallDifference = {
  readonly request_id: string
  readonly user_id: number
  readonly model?: string
  readonly charged: number
  /**
   * The charge with which `charged` is compared: the recomputed charge, the charge with what-if
   * prices, or the corrected charge.
   */
  readonly other: number
}

/**
 * The number of calls that a table shows initially. On a phone, each call is a block, and a hundred
 * blocks would be more than twenty screens high.
 */
export const INITIAL_CALLS = 20

/**
 * Lists calls with two charges and the difference between them. Each row links to the page that
 * explains the call.
 */
export function CallTable(props: {
  label: string
  otherName: string
  calls: readonly CallDifference[]
}) {
  const { t } = useTranslation()
  const names = useUserNames(props.calls.map(({ user_id: id }) => id))
  const hasModels = props.calls.some(({ model }) => model !== undefined)
  return (
    <ColumnTable
      label={props.label}
      initialRows={INITIAL_CALLS}
      rows={props.calls}
      rowKey={({ request_id: id }) => id}
      columns={[
        [t('shared.requestId'), ({ request_id: id }) => <CallLink requestId={id} />],
        [t('shared.user'), ({ user_id: id }) => <UserLink id={id} name={names.get(id)} />],
        hasModels && [t('ui.model'), ({ model }) => model ?? '–'],
        [
          { end: t('reconciliation.figure.charged') },
          ({ charged }) => <ExactQuota value={charged} />,
        ],
        [{ end: props.otherName }, ({ other }) => <ExactQuota value={other} />],
        [
          { end: t('shared.difference') },
          ({ other, charged }) => <QuotaChange value={other - charged} isNeutral />,
        ],
      ]}
    />
  )
}

type FiguresRow = {
  readonly key: string
  readonly name: ReactNode
  readonly calls: number
  readonly charged: number
  readonly drafted: number
  readonly refused: number
  readonly action?: ReactNode
}

/**
 * Shows the actual charges of calls and the charges with the what-if prices, summed by model, group
 * or user.
 */
export function FiguresTable(props: { label: string; head: string; rows: readonly FiguresRow[] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const hasRefused = props.rows.some(({ refused }) => refused > 0)
  const hasActions = props.rows.some(({ action }) => action !== undefined)
  return (
    <ColumnTable
      label={props.label}
      rows={props.rows}
      rowKey={({ key }) => key}
      columns={[
        [props.head, ({ name }) => name],
        [{ end: t('shared.calls') }, ({ calls }) => number.format(calls)],
        hasRefused && [
          { end: t('reconciliation.figure.refused') },
          ({ refused }) => (refused === 0 ? '–' : number.format(refused)),
        ],
        [
          { end: t('reconciliation.figure.charged') },
          ({ charged }) => <ExactQuota value={charged} />,
        ],
        [
          { end: t('reconciliation.figure.drafted') },
          ({ drafted }) => <ExactQuota value={drafted} />,
        ],
        [
          { end: t('shared.difference') },
          ({ drafted, charged }) => <QuotaChange value={drafted - charged} isNeutral />,
        ],
        hasActions && [{ end: t('shared.actions') }, ({ action }) => action],
      ]}
    />
  )
}

/**
 * Shows a margin in quota, and as a share of the charges. `charged` is the charge of all calls.
 * `uncosted` is the charge of the calls with unknown costs. The share leaves these calls out,
 * because the margin does not include them.
 */
export function Margin(props: { margin: number; charged: number; uncosted?: number }) {
  const percent = useNumberFormat({
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
  const { margin, charged, uncosted = 0 } = props
  const costed = charged - uncosted
  // If no call has a known cost, the margin is unknown and not zero.
  if (margin === 0 && costed === 0 && uncosted > 0) return <span className="tg-muted">–</span>
  return (
    <span>
      <QuotaChange value={margin} />
      <span className="tg-audit-code tg-audit-share">
        {costed > 0 && percent.format(margin / costed).replace('-', '−')}
      </span>
    </span>
  )
}
