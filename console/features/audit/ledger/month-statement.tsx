import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { useUser } from '#console/api/session.ts'
import { useLocale, useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { stampText } from '#console/ui/elements/time-text.ts'
import { useSiteName } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { DataTable, Facts, SumTable, type TableRow } from '../elements/small-tables.tsx'
import { MonthInput, monthName } from '../elements/utc-month.tsx'
import type { Account } from './ledger-queries.ts'
import {
  type CompleteStatement,
  type StatementLine,
  statementQuery,
} from './month-statement-query.ts'
import { detailsText, movementTypeText } from './movement-text.tsx'

/**
 * Shows the statement of an account for one month in UTC. The statement is printed without the
 * navigation.
 */
export function MonthStatement(props: {
  account: Account
  month: string
  onMonth: (month: string) => void
}) {
  const { t } = useTranslation()
  const { account, month } = props
  const locale = useLocale()
  const query = useQuery(statementQuery(account, month))
  return (
    <Panel
      title={t('audit.ledger.statementOf', { month: monthName(month, locale) })}
      lead={t('audit.ledger.statementLead')}
      actions={
        <>
          <MonthInput month={month} onMonth={props.onMonth} />
          <Button isDisabled={query.data === undefined} onClick={() => window.print()}>
            {t('audit.ledger.print')}
          </Button>
        </>
      }
    >
      <QueryView query={query} height={320}>
        {(complete) => <StatementTables complete={complete} />}
      </QueryView>
    </Panel>
  )
}

function StatementTables({ complete }: { complete: CompleteStatement }) {
  const { t } = useTranslation()
  const site = useSiteName()
  const user = useUser()
  const locale = useLocale()
  const { statement } = complete
  const { opening, closing } = statement
  const name = statement.username || (user?.id === statement.user_id ? user.username : '')
  const dayText = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  const byType = statement.by_type.map((row) => ({ ...row, name: movementTypeText(t, row.type) }))
  const byModel = statement.by_model.map((row) => ({ ...row, name: row.model || '–' }))
  const byDay = statement.by_day.map((row) => ({ ...row, name: dayText.format(row.day * 1000) }))
  return (
    <div className="tg-ledger-statement">
      <Facts
        facts={[
          [t('audit.ledger.site'), site],
          [t('shared.account'), `${name} (#${statement.user_id})`],
          [t('audit.ledger.opening'), <ExactQuota key="opening" value={opening.total} />],
          [
            t('audit.ledger.change'),
            <QuotaChange key="change" value={closing.total - opening.total} />,
          ],
          [t('audit.ledger.closing'), <ExactQuota key="closing" value={closing.total} />],
          [t('audit.ledger.openHolds'), <ExactQuota key="held" value={closing.held} />],
          [t('audit.ledger.spendable'), <ExactQuota key="balance" value={closing.balance} />],
        ]}
      />
      <LatestCheckpoint />
      {byType.length === 0 ? (
        <p className="tg-muted">{t('audit.ledger.noneInMonth')}</p>
      ) : (
        <div className="tg-ledger-tables">
          <SumTable title={t('audit.ledger.byType')} head={t('shared.type')} rows={byType} />
          {byModel.length > 0 && (
            <SumTable title={t('shared.byModel')} head={t('ui.model')} rows={byModel} />
          )}
          <SumTable title={t('audit.ledger.byDay')} head={t('audit.ledger.day')} rows={byDay} />
        </div>
      )}
      {byType.length > 0 && <StatementTable complete={complete} />}
    </div>
  )
}

/**
 * Shows the latest checkpoint (the signed hash of the history) on the printed statement. A reader
 * of the statement can use this hash to detect a later change of the history.
 */
function LatestCheckpoint() {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { data } = useQuery(apiQuery('GET /api/transparency-log/status'))
  if (data == null) return null
  const { latest } = data
  return (
    <section className="tg-ledger-checkpoint">
      <h3>{t('audit.log.latest')}</h3>
      {latest === null ? (
        <p className="tg-muted">{t('audit.log.none')}</p>
      ) : (
        <Facts
          facts={[
            [t('audit.log.size'), number.format(latest.size)],
            [t('audit.log.signed'), <Time key="signed" at={latest.created_at} style="stamp" />],
            [t('audit.verify.root'), <code key="root">{latest.root}</code>],
          ]}
        />
      )}
    </section>
  )
}

/** Shows the opening total of a month, its movements (oldest first), and its closing total. */
function StatementTable({ complete }: { complete: CompleteStatement }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { statement, lines, summedCalls } = complete
  const row = (line: StatementLine): TableRow => {
    const running = <ExactQuota key="running" value={line.running} />
    if ('sum' in line) {
      const { sum } = line
      const calls = t('audit.ledger.summedCalls', {
        ...{ count: sum.count, number: number.format(sum.count), model: sum.model || '–' },
      })
      return {
        key: `${sum.day} ${sum.model}`,
        cells: [
          ...[stampText(sum.day, 'UTC').slice(0, 10), t('audit.movement.call'), calls],
          ...[<QuotaChange key="amount" value={sum.amount} />, running],
        ],
      }
    }
    const { item } = line
    return {
      key: String(item.position),
      cells: [
        ...[stampText(item.created_at, 'UTC'), movementTypeText(t, item.type)],
        <span key="details" className="tg-ledger-line">
          {detailsText(t, item)} <code>{sourceText(item)}</code>
        </span>,
        ...[<QuotaChange key="amount" value={item.amount} />, running],
      ],
    }
  }
  const title = t('audit.ledger.tab.movements')
  return (
    <section className="tg-ledger-lines">
      <h3>{title}</h3>
      {summedCalls !== null && (
        <p className="tg-muted">
          {t('audit.ledger.summedCallsLead', { number: number.format(summedCalls) })}
        </p>
      )}
      <DataTable
        label={title}
        heads={[
          ...[t('audit.ledger.timeUtc'), t('shared.type'), t('audit.ledger.details')],
          ...[{ end: t('shared.amount') }, { end: t('audit.ledger.running') }],
        ]}
        rows={[
          totalRow('opening', t('audit.ledger.opening'), statement.opening.total),
          ...lines.map(row),
          totalRow('closing', t('audit.ledger.closing'), statement.closing.total),
        ]}
      />
    </section>
  )
}

/**
 * The maximum length of a source that is shown. Request ids of calls and ids of redemption codes
 * and orders are shorter.
 */
const SOURCE_MAX = 48

/**
 * Returns the source of a movement, such as the request id of a call. The source of some movements,
 * such as an adjustment by an admin, is a long internal key. For such a movement, returns the
 * position of its event instead.
 */
const sourceText = ({ source, position }: LedgerItem): string =>
  source.length > SOURCE_MAX ? `#${position}` : source

const totalRow = (key: string, name: string, total: number): TableRow => ({
  ...{ key, tone: 'sum' },
  cells: [name, '', '', '', <ExactQuota key="running" value={total} />],
})
