import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { apiQuery } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { stamp, Time } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { saveFile } from '#console/ui/state/save-file.ts'
import type { Receipt } from '#read-api/contract/receipts.ts'
import { ExactQuota, Hash } from '../elements/amounts.tsx'
import { Facts } from '../elements/data-table.tsx'
import { VerifierHint } from '../elements/verifier-hint.tsx'

/** A pending receipt becomes complete with the next signed checkpoint. */
const PENDING_EVERY_MS = 5_000

export function CallReceipts({ requestId }: { requestId: string }) {
  const { t } = useTranslation()
  const query = useQuery({
    ...apiQuery('GET /api/audit/receipts/:requestId', { params: { requestId } }),
    refetchInterval: ({ state }) =>
      state.data?.items.some((receipt) => receipt.is_pending) === true ? PENDING_EVERY_MS : false,
  })
  const save = (): void => {
    const text = `${JSON.stringify(query.data, null, 2)}\n`
    saveFile(new Blob([text], { type: 'application/json' }), `receipt-${requestId}.json`)
  }
  return (
    <Panel
      title={t('audit.receipt.title')}
      lead={t('audit.receipt.lead')}
      actions={
        <Button icon="download" isDisabled={query.data === undefined} onClick={save}>
          {t('audit.receipt.download')}
        </Button>
      }
    >
      <QueryView query={query} height={160}>
        {({ items }) => (
          <>
            <ol className="tg-audit-attempts">
              {items.map((receipt) => (
                <ReceiptItem key={receipt.record.id} receipt={receipt} />
              ))}
            </ol>
            <HowToCheck />
          </>
        )}
      </QueryView>
    </Panel>
  )
}

function ReceiptItem({ receipt }: { receipt: Receipt }) {
  const { t } = useTranslation()
  const { record, inclusion, cosignatures } = receipt
  const state = receipt.is_pending ? 'pending' : receipt.is_final ? 'final' : 'signed'
  return (
    <li>
      <header>
        <strong>{record.type}</strong>
        <StatusTag tone={state === 'final' ? 'good' : 'info'}>
          {t(`audit.receipt.state.${state}`)}
        </StatusTag>
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
