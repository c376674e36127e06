import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { adminPage } from '#console/ui/layout/admins-only-page.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import type { Order } from '#read-api/contract/top-ups.ts'
import { OrderList } from './order-list.tsx'
import { RefundDialog } from './refund-dialog.tsx'
import '#console/ui/forms/forms.css'
import './orders.css'

export const OrdersPage = adminPage('shell.orders', Orders)

function Orders() {
  const { t } = useTranslation()
  const [refunded, setRefunded] = useState<Order | null>(null)
  return (
    <Page title={t('shell.orders')} lead={t('orders.lead')}>
      <OrderList onRefund={setRefunded} />
      {refunded !== null && (
        <RefundDialog key={refunded.id} order={refunded} onClose={() => setRefunded(null)} />
      )}
    </Page>
  )
}
