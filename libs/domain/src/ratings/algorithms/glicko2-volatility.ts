/** How close the bounds of the volatility must come; the paper's 1e-6 leaves the last digits of printed values open. */
const CONVERGENCE = 1e-12;

/** Halving alone would need fewer; more means that the numbers are beyond what doubles tell apart. */
const STEPS_MAX = 1000;

/** What step 5 looks at, on the scale of the paper. */
export interface VolatilityCase {
  readonly volatility: number;
  /** φ: the deviation. Not μ: the paper's example has μ = 0 and does not notice. */
  readonly deviation: number;
  /** v: the variance that the results alone would leave (step 3). */
  readonly variance: number;
  /** Δ: the change that the results alone would make (step 4). */
  readonly improvement: number;
  /** τ: how much the volatility may change. */
  readonly tau: number;
}

/**
 * The new volatility σ′; not a number where the iteration does not end.
 * Glickman, Example of the Glicko-2 system (2022), step 5: the Illinois algorithm.
 */
export function nextVolatility({ volatility, deviation, variance, improvement, tau }: VolatilityCase): number {
  const a = Math.log(volatility * volatility);
  const [phi2, delta2] = [deviation * deviation, improvement * improvement];
  const f = (x: number): number => {
    const e = Math.exp(x);
    const sum = phi2 + variance + e;
    return (e * (delta2 - sum)) / (2 * sum * sum) - (x - a) / (tau * tau);
  };
  // 5.2: two numbers on both sides of the root.
  let A = a;
  let B = delta2 > phi2 + variance ? Math.log(delta2 - phi2 - variance) : lowerBound(f, a, tau);
  let [fA, fB] = [f(A), f(B)];
  // 5.4
  for (let step = 0; !(Math.abs(B - A) <= CONVERGENCE); step++) {
    if (step === STEPS_MAX || !Number.isFinite(B)) return Number.NaN;
    const C = A + ((A - B) * fA) / (fB - fA);
    const fC = f(C);
    if (fC * fB <= 0) [A, fA] = [B, fB];
    else fA /= 2;
    [B, fB] = [C, fC];
  }
  // 5.5
  return Math.exp(A / 2);
}

function lowerBound(f: (x: number) => number, a: number, tau: number): number {
  for (let k = 1; k <= STEPS_MAX; k++) if (f(a - k * tau) >= 0) return a - k * tau;
  return Number.NaN;
}
