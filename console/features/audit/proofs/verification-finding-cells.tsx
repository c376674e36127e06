import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { AmountText } from '#console/ui/quota/amount-text.tsx'
import { exactQuotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { AuditFinding } from '#read-api/contract/verifications.ts'

/**
 * Shows the position of the event that breaks a rule as a link to the stored event, or a dash if
 * the finding has no position.
 */
export function FindingPosition({ position }: Pick<AuditFinding, 'position'>) {
  if (position === null) return '–'
  return <Link to={`/app/audit/events?position=${position}`}>{`#${position}`}</Link>
}

const ACCOUNT_STREAM = /^account-([1-9]\d*)$/

/**
 * Shows the event stream to which a finding refers, and the revision (the number of the event in
 * the stream). The stream of an account is a link to the ledger of this account. A finding about a
 * whole stream has no revision. For a finding without a stream, a dash is shown.
 */
export function FindingPlace({ finding }: { finding: AuditFinding }) {
  const { stream, revision } = finding
  if (stream === null) return '–'
  const text = revision === null ? stream : `${stream} #${revision}`
  const account = ACCOUNT_STREAM.exec(stream)?.[1]
  return account === undefined ? text : <Link to={ledgerPath(account)}>{text}</Link>
}

const ledgerPath = (userId: string): string => `/app/audit/ledgers/${userId}`

/**
 * Shows the text of a finding. Amounts are in the currency of the site, and calls and accounts of
 * users are links.
 */
export function FindingDetail({ parts }: Pick<AuditFinding, 'parts'>) {
  return (
    <span className="tg-proofs-detail">
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a finding never change order
        <DetailPart key={index} {...part} />
      ))}
    </span>
  )
}

function DetailPart({ kind, value }: AuditFinding['parts'][number]) {
  switch (kind) {
    case 'amount':
      return <FindingAmount units={value} />
    case 'call':
      return <Link to={`/app/calls/${encodeURIComponent(value)}`}>{value}</Link>
    case 'user':
      return <Link to={ledgerPath(value)}>{value}</Link>
    case 'text':
      return value
  }
}

/**
 * Shows an amount in the currency of the site. The tooltip shows the exact number of quota units,
 * as the events contain it.
 */
function FindingAmount({ units }: { units: string }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const title = t('shared.quotaUnits', { quota: units })
  return <AmountText text={exactQuotaText(BigInt(units), rule)} title={title} />
}
