const KEY = 'awaited-top-up'

/** Returns the id of the order that this tab is paying on the provider's page, or null. */
export function awaitedOrder(): number | null {
  const id = Number(sessionStorage.getItem(KEY) ?? 0)
  return Number.isSafeInteger(id) && id > 0 ? id : null
}

export const awaitOrder = (id: number): void => sessionStorage.setItem(KEY, String(id))

/** Removes the stored id of the order. Returns true only on the first call for an order. */
export function forgetOrder(id: number): boolean {
  if (awaitedOrder() !== id) return false
  sessionStorage.removeItem(KEY)
  return true
}
