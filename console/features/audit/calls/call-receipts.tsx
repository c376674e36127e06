import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { ReceiptList, refetchWhilePending, SaveReceipts } from '../elements/receipt-list.tsx'

/**
 * Shows the receipts of a call. A receipt proves that an event is part of the sealed history: here
 * the admission and the end of the call.
 */
export function CallReceipts({ requestId }: { requestId: string }) {
  const { t } = useTranslation()
  const query = useQuery({
    ...apiQuery('GET /api/audit/receipts/:requestId', { params: { requestId } }),
    refetchInterval: refetchWhilePending,
  })
  return (
    <Panel
      title={t('audit.receipt.title')}
      lead={t('audit.receipt.lead')}
      actions={<SaveReceipts receipts={query.data} id={requestId} />}
    >
      <QueryView query={query} height={160}>
        {(receipts) => <ReceiptList receipts={receipts} />}
      </QueryView>
    </Panel>
  )
}
