/** The numbers of one player in a formula. */
export interface Numbers {
  rating: number;
  deviation: number;
  volatility: number;
}

/** A side of a game in a formula: its members' numbers and its place. */
export interface FormulaSide {
  members: Numbers[];
  place: number;
  isHome: boolean;
}

/** Φ, the normal distribution: near the middle by a series without cancellation, beyond by its tail. */
export function normalBelow(x: number): number {
  if (x > 3) return 1 - normalTail(x);
  if (x < -3) return normalTail(-x);
  let [sum, term] = [0, x];
  for (let n = 0; n < 100; n++) {
    sum += term;
    term *= (x * x) / (2 * n + 3);
  }
  return 0.5 + normalDensity(x) * sum;
}

/** 1 − Φ for large arguments: Mills's ratio as a continued fraction. */
function normalTail(x: number): number {
  let fraction = x;
  for (let n = 200; n >= 1; n--) fraction = x + n / fraction;
  return normalDensity(x) / fraction;
}

const normalDensity = (x: number): number => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);

/** Differences at which FIDE prints another whole percent than the normal distribution with σ = 2000/7 rounds to. */
const FIDE_PRINTS: Record<number, number> = { 54: 58, 343: 88, 344: 88, 358: 90, 392: 92, 620: 99 };

/** FIDE's table 8.1.2 as what it was made from: Elo's normal distribution. */
export function fideExpected(difference: number): number {
  const distance = Math.abs(difference);
  const higher = FIDE_PRINTS[distance] ?? Math.round(100 * normalBelow((7 * distance) / 2000));
  return (difference >= 0 ? higher : 100 - higher) / 100;
}

/** Elo (1978), 1.5: the score expected of one against the other. */
export function eloExpected(rating: number, other: number, scale: number, differenceMax: number | null): number {
  let difference = other - rating;
  if (differenceMax !== null && Math.abs(difference) > differenceMax)
    difference = Math.sign(difference) * differenceMax;
  return 1 / (1 + Math.pow(10, difference / scale));
}

export interface Glicko2Result {
  opponent: Numbers;
  score: number;
  /** Rating points that the player has more for this game. */
  advantage: number;
}

/**
 * Glickman (2022), steps 2 to 8, on the scale of the paper, with the volatility of step 5 found by halving.
 * @param periods how many periods of growth step 6 adds, with the new volatility
 */
export function glicko2Rated(player: Numbers, results: Glicko2Result[], tau: number, periods: number): Numbers {
  const mu = (player.rating - 1500) / 173.7178;
  const phi = player.deviation / 173.7178;
  const rows = results.map(({ opponent, score, advantage }) => {
    const phiJ = opponent.deviation / 173.7178;
    const g = 1 / Math.sqrt(1 + (3 * phiJ * phiJ) / (Math.PI * Math.PI));
    const muJ = (opponent.rating - advantage - 1500) / 173.7178;
    const e = 1 / (1 + Math.exp(-g * (mu - muJ)));
    const eOther = 1 / (1 + Math.exp(g * (mu - muJ)));
    return { g, surprise: g * (score - e), information: g * g * e * eOther };
  });
  const v = 1 / rows.reduce((sum, { information }) => sum + information, 0);
  const delta = v * rows.reduce((sum, { surprise }) => sum + surprise, 0);
  const volatility = glicko2Volatility(player.volatility, phi, v, delta, tau);
  const star = Math.sqrt(phi * phi + periods * volatility * volatility);
  const newPhi = 1 / Math.sqrt(1 / (star * star) + 1 / v);
  const newMu = mu + newPhi * newPhi * (delta / v);
  return { rating: 173.7178 * newMu + 1500, deviation: 173.7178 * newPhi, volatility };
}

/** The root of the paper's f, which falls from +∞ to −∞. */
function glicko2Volatility(sigma: number, phi: number, v: number, delta: number, tau: number): number {
  const a = Math.log(sigma * sigma);
  const f = (x: number): number =>
    (Math.exp(x) * (delta * delta - phi * phi - v - Math.exp(x))) / (2 * (phi * phi + v + Math.exp(x)) ** 2) -
    (x - a) / (tau * tau);
  let [low, high] = [a - 100, a + 100];
  for (let n = 0; n < 200; n++) {
    const middle = (low + high) / 2;
    if (f(middle) > 0) low = middle;
    else high = middle;
  }
  return Math.exp(low / 2);
}

export interface WengLinNumbers {
  beta: number;
  tau: number;
  kappa: number;
  epsilon: number;
}

/** What a side's Ω and Δ are, out of all sides; by the number of an algorithm of Weng and Lin (2011). */
type Step = (sides: Strength[], own: Strength, numbers: WengLinNumbers) => { omega: number; delta: number };

interface Strength {
  mu: number;
  sigma2: number;
  place: number;
}

/** Weng and Lin (2011), with γ = σᵢ/c of their section 3, and τ added before the game. */
export function wengLinRated(sides: FormulaSide[], model: string, numbers: WengLinNumbers): Numbers[][] {
  const grown = sides.map(({ members }) =>
    members.map(({ rating, deviation }) => ({ rating, sigma2: deviation ** 2 + numbers.tau ** 2 })),
  );
  const strengths = grown.map((members, at) => ({
    mu: members.reduce((sum, { rating }) => sum + rating, 0),
    sigma2: members.reduce((sum, { sigma2 }) => sum + sigma2, 0),
    place: sides[at]!.place,
  }));
  const step = {
    'plackett-luce': plackettLuce,
    'bradley-terry-full': bradleyTerry,
    'thurstone-mosteller-full': thurstone,
  }[model]! satisfies Step;
  return grown.map((members, at) => {
    const { omega, delta } = step(strengths, strengths[at]!, numbers);
    return members.map(({ rating, sigma2 }) => {
      const share = sigma2 / strengths[at]!.sigma2;
      return {
        rating: rating + share * omega,
        deviation: Math.sqrt(sigma2 * Math.max(1 - share * delta, numbers.kappa)),
        volatility: 0,
      };
    });
  });
}

/** Algorithm 4. Those who share a place share what each of them would be asked for. */
const plackettLuce: Step = (sides, own, { beta }) => {
  const c = Math.sqrt(sides.reduce((sum, { sigma2 }) => sum + sigma2 + beta ** 2, 0));
  let [omega, delta] = [0, 0];
  for (const q of sides) {
    if (q.place > own.place) continue;
    const rest = sides.filter(({ place }) => place >= q.place);
    const chance = Math.exp(own.mu / c) / rest.reduce((sum, { mu }) => sum + Math.exp(mu / c), 0);
    const tied = sides.filter(({ place }) => place === q.place).length;
    omega += ((q === own ? 1 : 0) - chance) / tied;
    delta += (chance * (1 - chance)) / tied;
  }
  const gamma = Math.sqrt(own.sigma2) / c;
  return { omega: (omega * own.sigma2) / c, delta: (gamma * delta * own.sigma2) / c ** 2 };
};

/** Algorithm 1. */
const bradleyTerry: Step = (sides, own, { beta }) => {
  let [omega, delta] = [0, 0];
  for (const q of sides) {
    if (q === own) continue;
    const c = Math.sqrt(own.sigma2 + q.sigma2 + 2 * beta ** 2);
    const p = Math.exp(own.mu / c) / (Math.exp(own.mu / c) + Math.exp(q.mu / c));
    const score = q.place > own.place ? 1 : q.place === own.place ? 0.5 : 0;
    omega += (own.sigma2 / c) * (score - p);
    delta += (Math.sqrt(own.sigma2) / c) * (own.sigma2 / c ** 2) * p * (1 - p);
  }
  return { omega, delta };
};

/** Algorithm 3, whose V, W, Ṽ and W̃ are those of TrueSkill. */
const thurstone: Step = (sides, own, { beta, epsilon }) => {
  let [omega, delta] = [0, 0];
  for (const q of sides) {
    if (q === own) continue;
    const c = Math.sqrt(own.sigma2 + q.sigma2 + 2 * beta ** 2);
    const t = epsilon / c;
    const x = (own.mu - q.mu) / c;
    const gamma = Math.sqrt(own.sigma2) / c;
    let [v, w] = [0, 0];
    if (q.place === own.place) {
      const inside = normalBelow(t - x) - normalBelow(-t - x);
      v = (normalDensity(-t - x) - normalDensity(t - x)) / inside;
      w = ((t - x) * normalDensity(t - x) + (t + x) * normalDensity(t + x)) / inside + v * v;
    } else {
      const sign = q.place > own.place ? 1 : -1;
      const y = sign * x - t;
      const ratio = normalDensity(y) / normalBelow(y);
      [v, w] = [sign * ratio, ratio * (ratio + y)];
    }
    omega += (own.sigma2 / c) * v;
    delta += gamma * (own.sigma2 / c ** 2) * w;
  }
  return { omega, delta };
};
