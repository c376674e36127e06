import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import type { Data } from '#console/api/client.ts'
import { saveFile } from '#console/ui/browser/save-file.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import type { Receipt } from '#read-api/contract/receipts.ts'
import { useEventLabel } from './act-and-event-labels.ts'
import { ExactQuota, Hash } from './amounts-and-hashes.tsx'
import {
  CheckpointStatus,
  type CheckpointStatusName,
  checkpointStatusOf,
  VerifierHint,
} from './checkpoint-status-and-verifier-hint.tsx'
import { ConsistencyProofDownload, type ReadSince } from './consistency-proof-download.tsx'
import { Facts } from './small-tables.tsx'

/**
 * The polling interval (ms) while a receipt is pending. A receipt is pending until the site has
 * signed a checkpoint (a hash of the history) that includes the event of the receipt.
 */
const PENDING_POLL_INTERVAL_MS = 5_000

type Receipts = Data<'GET /api/audit/receipts'>

/** Returns the polling interval (ms) of a query for receipts, or false if no receipt is pending. */
export const refetchWhilePending = ({ state }: { state: { data: Receipts | undefined } }) =>
  state.data?.items.some((receipt) => receipt.is_pending) === true
    ? PENDING_POLL_INTERVAL_MS
    : false

/**
 * A button that saves receipts as a file that the offline verifier can read. `id` becomes a part of
 * the file's name.
 */
export function SaveReceipts({ receipts, id }: { receipts: Receipts | undefined; id: string }) {
  const { t } = useTranslation()
  const save = (): void => {
    const text = `${JSON.stringify(receipts, null, 2)}\n`
    saveFile(new Blob([text], { type: 'application/json' }), `receipt-${id}.json`)
  }
  return (
    <Button icon="download" isDisabled={receipts === undefined} onClick={save}>
      {t('audit.receipt.download')}
    </Button>
  )
}

/**
 * Lists the events that the receipts prove. Also explains what receipts prove and how to verify
 * them. `id` becomes a part of the name of a saved file.
 */
export function ReceiptList(props: { receipts: Receipts; id: string; readSince: ReadSince }) {
  const { receipts, id, readSince } = props
  return (
    <>
      <ol className="tg-audit-attempts">
        {receipts.items.map((receipt) => (
          <ReceiptItem key={receipt.record.id} receipt={receipt} />
        ))}
      </ol>
      <Meaning receipts={receipts} />
      <HowToCheck id={id} readSince={readSince} isWitnessed={receipts.items.some(isWitnessed)} />
    </>
  )
}

/**
 * Reports whether a receipt shows that the site has witnesses. Such a receipt has signatures of
 * witnesses, or still waits for them. A waiting receipt is neither pending nor final.
 */
const isWitnessed = ({ cosignatures, is_pending, is_final }: Receipt): boolean =>
  cosignatures.length > 0 || (!is_pending && !is_final)

const statusOf = (receipt: Receipt): CheckpointStatusName =>
  receipt.is_pending ? 'pending' : checkpointStatusOf(receipt)

function ReceiptItem({ receipt }: { receipt: Receipt }) {
  const { t } = useTranslation()
  const { record, inclusion, cosignatures } = receipt
  const label = useEventLabel()(record.type)
  const status = statusOf(receipt)
  return (
    <li>
      <header>
        <strong>{label}</strong>
        {label !== record.type && <code className="tg-audit-type">{record.type}</code>}
        <CheckpointStatus status={status} />
        {receipt.expected_at !== null && (
          <span className="tg-muted">
            {t('audit.receipt.expected')} <Time at={receipt.expected_at} mayBeInFuture />
          </span>
        )}
      </header>
      <Facts
        facts={[
          [t('audit.position'), `#${record.position}`],
          [t('audit.revision'), `${record.stream} #${record.revision}`],
          [t('shared.time'), stamp(Math.floor(record.at / 1000))],
          [
            t('audit.balanceAfter'),
            receipt.balance_after !== null && <ExactQuota value={receipt.balance_after} />,
          ],
          [
            t('audit.heldAfter'),
            receipt.held_after !== null && <ExactQuota value={receipt.held_after} />,
          ],
          [t('audit.receipt.leaf'), <Hash key="leaf" value={receipt.leaf_hash} />],
          [
            t('audit.receipt.inclusion'),
            inclusion &&
              t('audit.receipt.inclusionText', {
                index: String(inclusion.leaf_index),
                size: String(inclusion.tree_size),
                count: inclusion.hashes.length,
              }),
          ],
          [
            t('audit.receipt.witnesses'),
            cosignatures.length > 0 && cosignatures.map(({ witness }) => witness).join(', '),
          ],
        ]}
      />
    </li>
  )
}

/**
 * Explains what receipts prove and what no receipt proves. The text depends on the statuses of the
 * receipts, because a receipt without signatures of witnesses proves less.
 */
function Meaning({ receipts }: { receipts: Receipts }) {
  const { t } = useTranslation()
  const statuses = [...new Set(receipts.items.map(statusOf))]
  return (
    <ul className="tg-audit-meaning">
      {statuses.map((status) => (
        <li key={status}>
          <CheckpointStatus status={status} /> {t(`audit.receipt.meaning.${status}`)}
        </li>
      ))}
      <li>{t('audit.receipt.limits')}</li>
    </ul>
  )
}

function HowToCheck(props: { id: string; readSince: ReadSince; isWitnessed: boolean }) {
  const { t } = useTranslation()
  return (
    <details className="tg-audit-check">
      <summary>{t('audit.receipt.check')}</summary>
      <ol>
        <li>{t('audit.receipt.checkLeaf')}</li>
        <li>{t('audit.receipt.checkPath')}</li>
        <li>
          {t('audit.receipt.checkNote')} <Link to="/proof">{t('audit.proof.title')}</Link>
        </li>
        <li>{t('audit.receipt.checkChain')}</li>
      </ol>
      <VerifierHint isWitnessed={props.isWitnessed} />
      <ConsistencyProofDownload {...props} />
    </details>
  )
}
