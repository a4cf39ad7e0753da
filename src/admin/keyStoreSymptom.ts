import { PROCESS_METRICS } from '../contract/metrics.js';

/** Revocations count within a second: a store that was not seen for longer than this is out of reach. */
const AGE_MAX_S = 5;

/** A `Symptom`: of the key store, which replicas may share. */
export const KEY_STORE_SYMPTOM = {
  id: 'keyStore',
  title: 'The key store is out of reach',
  metrics: [PROCESS_METRICS.keyStoreAge.name, PROCESS_METRICS.limitsLocal.name],
  remedy:
    'Known keys go on, keys issued or revoked meanwhile do not count yet, and each replica keeps to its share of the limits. The log says why ("key store"). Bring the store back: nothing else is to be done. After ACUITY_KEYS_STALE_MS without it no key counts and the replica is not ready.',
  isRed: ({ keyStoreAgeS = 0 }: { readonly keyStoreAgeS?: number }): boolean => keyStoreAgeS > AGE_MAX_S,
};
