import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import type { Data } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { saveFile } from '#console/ui/state/save-file.ts'
import type { Receipt } from '#read-api/contract/receipts.ts'
import { useEventLabel } from './act-and-event-labels.ts'
import { ExactQuota, Hash } from './amounts.tsx'
import { Facts } from './data-table.tsx'
import { SealState, sealStateOf } from './seal-state.tsx'
import { VerifierHint } from './verifier-hint.tsx'

/**
 * The polling interval (ms) for pending receipts. A pending receipt becomes complete with the next
 * signed checkpoint.
 */
const PENDING_EVERY_MS = 5_000

type Receipts = Data<'GET /api/audit/receipts'>

/** The polling interval of a query of receipts: it polls only while a signature is pending. */
export const refetchWhilePending = ({ state }: { state: { data: Receipts | undefined } }) =>
  state.data?.items.some((receipt) => receipt.is_pending) === true ? PENDING_EVERY_MS : false

/**
 * A button that saves receipts in the format of the offline verifier. `id` is a part of the file's
 * name.
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

/** Lists the events that the receipts prove, and explains how to check the receipts. */
export function ReceiptList({ receipts }: { receipts: Receipts }) {
  return (
    <>
      <ol className="tg-audit-attempts">
        {receipts.items.map((receipt) => (
          <ReceiptItem key={receipt.record.id} receipt={receipt} />
        ))}
      </ol>
      <HowToCheck />
    </>
  )
}

function ReceiptItem({ receipt }: { receipt: Receipt }) {
  const { t } = useTranslation()
  const { record, inclusion, cosignatures } = receipt
  const label = useEventLabel()(record.type)
  const state = receipt.is_pending ? 'pending' : sealStateOf(receipt)
  return (
    <li>
      <header>
        <strong>{label}</strong>
        {label !== record.type && <code className="tg-audit-type">{record.type}</code>}
        <SealState state={state} />
        {receipt.expected_at !== null && (
          <span className="tg-muted">
            {t('audit.receipt.expected')} <Time at={receipt.expected_at} canLieAhead />
          </span>
        )}
      </header>
      <Facts
        facts={[
          [t('audit.position'), `#${record.position}`],
          [t('audit.revision'), `${record.stream} #${record.revision}`],
          [t('audit.time'), stamp(Math.floor(record.at / 1000))],
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

function HowToCheck() {
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
      <VerifierHint />
      <p className="tg-hint">{t('audit.receipt.limits')}</p>
    </details>
  )
}
