/**
 * Returns 128 random bits as text. `crypto.randomUUID` can't be used, because browsers offer it
 * only on pages with HTTPS.
 */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
