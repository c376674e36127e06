import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { ReceiptList, refetchWhilePending, SaveReceipts } from '../elements/receipt-list.tsx'

/**
 * Shows the receipt for a movement. The receipt proves that the event at `position`, which caused
 * the movement, is part of the history.
 */
export function MovementReceipt({ position }: { position: number }) {
  const { t } = useTranslation()
  const id = useId()
  const query = useQuery({
    ...apiQuery('GET /api/audit/receipts', { query: { position } }),
    refetchInterval: refetchWhilePending,
  })
  return (
    <section className="tg-ledger-receipt" aria-labelledby={id}>
      <header className="tg-ends">
        <h2 id={id}>{t('audit.receipt.title')}</h2>
        <SaveReceipts receipts={query.data} id={String(position)} />
      </header>
      <QueryView query={query} height={200}>
        {(receipts) => <ReceiptList receipts={receipts} />}
      </QueryView>
    </section>
  )
}
