// Proofs that configurations of an arm are free, eight at once, and RRT-Connect with shortcuts among them.
//
// Every geom is cut into pieces. The outer sphere of a piece contains it, the inner one is contained in it; where
// these do not decide, the nearest points of two pieces give either a plane between them or two points too near to
// each other. What remains open is asked outside: whatever is called free or barred here has been proven.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int W = 8;           // configurations at once
constexpr float SLACK = 3e-5f;  // m; more than what single precision loses along the chain
constexpr int ROUNDS = 6;      // of nearest points, before a pair is left open
typedef float V __attribute__((vector_size(4 * W)));
typedef int32_t M __attribute__((vector_size(4 * W)));

bool any(M m) {
    int32_t all = 0;
    for (int i = 0; i < W; i++) all |= m[i];
    return all;
}
V root(V a) {
    for (int i = 0; i < W; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
V size(V a) { return a < 0 ? -a : a; }
V clamp(V a, float r) { return a > r ? V{} + r : a < -r ? V{} - r : a; }
V sine(V x) {  // to 1e-7
    M turns = __builtin_convertvector(x * float(1 / M_PI) + (x < 0 ? V{} - 0.5f : V{} + 0.5f), M);
    V k = __builtin_convertvector(turns, V), r = (x - k * 3.140625f) - k * 9.67653589793e-4f, s = r * r;
    V y = r + r * s * (-1.6666667e-1f + s * (8.3333333e-3f + s * (-1.9841270e-4f + s * (2.7557319e-6f - s * 2.5052108e-8f))));
    return (turns & 1) ? -y : y;
}

struct Frame {
    V r[9], t[3];
    void set(const double* rows) {  // of a 3x4 matrix
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) r[3 * i + j] = V{} + float(rows[4 * i + j]);
            t[i] = V{} + float(rows[4 * i + 3]);
        }
    }
    void out(const V* p, V* w) const {
        for (int i = 0; i < 3; i++) w[i] = r[3 * i] * p[0] + r[3 * i + 1] * p[1] + r[3 * i + 2] * p[2] + t[i];
    }
    void turn_in(const V* d, V* p) const {
        for (int i = 0; i < 3; i++) p[i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
    }
    void in(const V* w, V* p) const {
        V d[3] = {w[0] - t[0], w[1] - t[1], w[2] - t[2]};
        turn_in(d, p);
    }
    Frame of(const Frame& b) const {
        Frame c;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) c.r[3 * i + j] = r[3 * i] * b.r[j] + r[3 * i + 1] * b.r[3 + j] + r[3 * i + 2] * b.r[6 + j];
        out(b.t, c.t);
        return c;
    }
};

struct Piece {
    int link, geom, round, exact;  // link -1: fixed in the world; round: a cylinder; exact: not larger than the geom
    float half[3], outer, inner;
    Frame local, now;
    bool framed;
    void nearest(V* p) const {  // in the piece to a point, both in its frame
        if (round) {
            V rho = p[0] * p[0] + p[1] * p[1];
            V scale = rho > half[0] * half[0] ? half[0] / root(rho) : V{} + 1;
            p[0] *= scale, p[1] *= scale;
        } else {
            p[0] = clamp(p[0], half[0]), p[1] = clamp(p[1], half[1]);
        }
        p[2] = clamp(p[2], half[2]);
    }
    V support(const V* n) const {
        V across = round ? half[0] * root(n[0] * n[0] + n[1] * n[1]) : half[0] * size(n[0]) + half[1] * size(n[1]);
        return across + half[2] * size(n[2]);
    }
};

struct Ball {
    V at[3];
    float centre[3], radius;
};

struct Near {  // pieces of one link that may meet another piece
    int one, other;
    std::vector<int> pieces;
};

struct Tree {
    std::vector<double> q;
    std::vector<int> up;
};

typedef int (*Ask)(int);  // 0: go on? 1: is the configuration in `asked` free? Negative: give up

struct Kernel {
    int n, geoms;
    std::vector<Frame> offsets, links;
    std::vector<Piece> pieces;
    std::vector<Ball> balls;
    std::vector<Near> nears;
    std::vector<float> least;
    float widest;
    bool bounded;
    float low[3], high[3], tip[3];
    // Of a search:
    Ask ask;
    double *asked, step;
    long checks;
    bool stopped;
    uint64_t seed;

    const Frame& frame(int i) {
        Piece& p = pieces[i];
        if (!p.framed) p.now = links[p.link].of(p.local), p.framed = true;
        return p.now;
    }

    // Whether pieces are apart; lanes are added to `hit` and `open`.
    void relate(int a, int b, M& hit, M& open) {
        if (pieces[a].outer > pieces[b].outer) std::swap(a, b);
        const Piece &one = pieces[a], &two = pieces[b];
        float wanted = least[one.geom * geoms + two.geom], need = std::max(wanted, 0.0f) + SLACK;
        float barred = one.exact && two.exact ? wanted - SLACK : -1.0f;
        const Frame &g = frame(b), &f = frame(a);
        V p[3] = {f.t[0], f.t[1], f.t[2]}, x[3], l[3], d[3];
        M undecided = ~hit;
        for (int round = 0; round < ROUNDS; round++) {
            g.in(p, l);
            two.nearest(l);
            g.out(l, x);
            for (int i = 0; i < 3; i++) d[i] = x[i] - p[i];
            V far = root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), gap;
            M bad;
            if (round == 0) {
                gap = far - one.outer, bad = (far - one.inner < barred) & (barred > 0);
            } else {
                V norm = 1 / (far + (far < 1e-6f ? V{} + 1 : V{})), m[3];
                for (int i = 0; i < 3; i++) d[i] *= norm;
                f.turn_in(d, m);
                gap = (x[0] - f.t[0]) * d[0] + (x[1] - f.t[1]) * d[1] + (x[2] - f.t[2]) * d[2] - one.support(m);
                gap = far < 1e-6f ? V{} - 1 : gap;
                bad = far < barred;
            }
            hit |= bad & undecided;
            undecided &= (gap < need) & ~bad;
            if (!any(undecided)) return;
            f.in(x, l);
            one.nearest(l);
            f.out(l, p);
        }
        open |= undecided;
    }

    // Classify the configurations q (n rows of W); with `brief`, return at the first hit.
    void classify(const V* q, M& hit, M& open, bool brief) {
        Frame at;
        for (int i = 0; i < n; i++) {
            V s = sine(q[i]), c = sine(q[i] + float(M_PI / 2));
            at = i ? links[i - 1].of(offsets[i]) : offsets[0];
            for (int j = 0; j < 9; j += 3) {
                V x = at.r[j], y = at.r[j + 1];
                at.r[j] = x * c + y * s, at.r[j + 1] = y * c - x * s;
            }
            links[i] = at;
            V centre[3] = {V{} + balls[i].centre[0], V{} + balls[i].centre[1], V{} + balls[i].centre[2]};
            at.out(centre, balls[i].at);
        }
        for (Piece& p : pieces) p.framed = p.link < 0;
        hit = open = M{};
        if (bounded) {
            V t[3] = {V{} + tip[0], V{} + tip[1], V{} + tip[2]}, w[3];
            at.out(t, w);
            for (int i = 0; i < 3; i++) {
                hit |= (w[i] < low[i] - SLACK) | (w[i] > high[i] + SLACK);
                open |= (w[i] < low[i] + SLACK) | (w[i] > high[i] - SLACK);
            }
        }
        for (const Near& near : nears) {
            if (brief && any(hit)) return;
            V l[3], d2 = V{};
            const Ball& ball = balls[near.one];
            const Piece& b = pieces[near.other];
            frame(near.other).in(ball.at, l);
            V c[3] = {l[0], l[1], l[2]};
            b.nearest(c);
            for (int i = 0; i < 3; i++) d2 += (l[i] - c[i]) * (l[i] - c[i]);
            float reach = ball.radius + widest;
            if (any((d2 < reach * reach) & ~hit))
                for (int i : near.pieces) relate(i, near.other, hit, open);
        }
        open &= ~hit;
    }

    int answer(int what) {
        int said = ask(what);
        stopped |= said < 0;
        return said > 0;
    }

    // Whether the straight way is free, without its beginning.
    bool edge(const double* a, const double* b) {
        double far = distance(a, b);
        int count = std::max(int(std::ceil(far / step)), 1), rows = (count + W - 1) / W;
        std::vector<int> left;
        for (int row = 0; row < rows; row++) {
            V q[16];
            int at[W];
            for (int k = 0; k < W; k++) {
                at[k] = std::min(1 + row + k * rows, count);
                for (int i = 0; i < n; i++) q[i][k] = float(a[i] + (b[i] - a[i]) * at[k] / count);
            }
            M hit, open;
            checks += W;
            classify(q, hit, open, true);
            if (any(hit)) return false;
            if (any(open))
                for (int k = 0; k < W; k++)
                    if (open[k] && (k == 0 || at[k] != at[k - 1])) left.push_back(at[k]);
        }
        for (int k : left) {
            for (int i = 0; i < n; i++) asked[i] = a[i] + (b[i] - a[i]) * k / count;
            if (!answer(1)) return false;
        }
        return true;
    }

    double distance(const double* a, const double* b) const {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return std::sqrt(sum);
    }

    double random() {  // in [0, 1), by splitmix64
        uint64_t z = seed += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }

    // Grow a tree by one edge of at most `range` towards q; return the new node or -1. `there` says if that is q.
    int extend(Tree& tree, const double* q, double range, bool& there) {
        int best = 0;
        double least_far = INFINITY;
        for (int i = 0; i < int(tree.up.size()); i++)
            if (double far = distance(&tree.q[i * n], q); far < least_far) least_far = far, best = i;
        there = least_far <= range;
        double next[16], share = there ? 1 : range / least_far;
        for (int i = 0; i < n; i++) next[i] = tree.q[best * n + i] + share * (q[i] - tree.q[best * n + i]);
        if (there) std::copy(q, q + n, next);
        if (least_far > 0 && !edge(&tree.q[best * n], next)) return -1;
        tree.q.insert(tree.q.end(), next, next + n);
        tree.up.push_back(best);
        return int(tree.up.size()) - 1;
    }

    void shorten(std::vector<std::vector<double>>& path, int tries) {
        auto reduce = [&] {
            for (size_t i = 0; i + 2 < path.size(); i++)
                for (size_t j = path.size() - 1; j > i + 1; j--)
                    if (edge(path[i].data(), path[j].data())) {
                        path.erase(path.begin() + i + 1, path.begin() + j);
                        break;
                    }
        };
        reduce();
        for (int t = 0; t < tries && path.size() > 2 && !stopped; t++) {
            double a = random() * (path.size() - 1), b = random() * (path.size() - 1);
            if (a > b) std::swap(a, b);
            int i = int(a), j = int(b);
            if (i == j) continue;
            std::vector<double> p(n), q(n);
            for (int k = 0; k < n; k++) {
                p[k] = path[i][k] + (a - i) * (path[i + 1][k] - path[i][k]);
                q[k] = path[j][k] + (b - j) * (path[j + 1][k] - path[j][k]);
            }
            if (!edge(p.data(), q.data())) continue;
            path.erase(path.begin() + i + 1, path.begin() + j + 1);
            path.insert(path.begin() + i + 1, {p, q});
        }
        reduce();
    }

    bool search(Tree& a, Tree& b, const double* lower, const double* upper, double range, long most,
                std::vector<std::vector<double>>& path) {
        Tree *grown = &a, *other = &b;
        while (checks < most && !stopped) {
            if (!answer(0)) stopped = true;
            double q[16];
            for (int i = 0; i < n; i++) q[i] = lower[i] + random() * (upper[i] - lower[i]);
            bool there;
            int node = extend(*grown, q, range, there), end = -1;
            if (node >= 0) {
                std::vector<double> target(&grown->q[node * n], &grown->q[node * n] + n);
                there = false;
                do end = extend(*other, target.data(), range, there);
                while (end >= 0 && !there && checks < most);
                if (end >= 0 && there) {
                    int from = grown == &a ? node : end, to = grown == &a ? end : node;
                    for (int i = from; i >= 0; i = a.up[i]) path.emplace_back(&a.q[i * n], &a.q[i * n] + n);
                    std::reverse(path.begin(), path.end());
                    for (int i = b.up[to]; i >= 0; i = b.up[i]) path.emplace_back(&b.q[i * n], &b.q[i * n] + n);
                    return true;
                }
            }
            std::swap(grown, other);
        }
        return false;
    }
};

}  // namespace

extern "C" {

Kernel* kernel_new(int n, const double* offsets, int count, const int* whats, const double* frames, const double* halves,
                   int geoms, const uint8_t* collide) {
    Kernel* k = new Kernel{};
    k->n = n, k->geoms = geoms;
    k->offsets.resize(n), k->links.resize(n), k->balls.resize(n), k->pieces.resize(count);
    for (int i = 0; i < n; i++) k->offsets[i].set(offsets + 12 * i);
    for (int i = 0; i < count; i++) {
        Piece& p = k->pieces[i];
        p.link = whats[4 * i], p.geom = whats[4 * i + 1], p.round = whats[4 * i + 2], p.exact = whats[4 * i + 3];
        const double* h = halves + 3 * i;
        std::copy(h, h + 3, p.half);
        p.outer = float(std::sqrt(h[0] * h[0] + (p.round ? 0 : h[1] * h[1]) + h[2] * h[2]) * (1 + 1e-6));
        p.inner = float(std::min({h[0], h[1], h[2]}));
        p.local.set(frames + 12 * i);
        p.now = p.local;
    }
    for (int a = 0; a < n; a++) {
        Ball& ball = k->balls[a];
        float low[3] = {1e9f, 1e9f, 1e9f}, high[3] = {-1e9f, -1e9f, -1e9f};
        for (const Piece& p : k->pieces)
            for (int i = 0; i < 3 && p.link == a; i++)
                low[i] = std::min(low[i], p.local.t[i][0] - p.outer), high[i] = std::max(high[i], p.local.t[i][0] + p.outer);
        for (int i = 0; i < 3; i++) ball.centre[i] = (low[i] + high[i]) / 2;
        for (const Piece& p : k->pieces)
            if (p.link == a) {
                float far = 0;
                for (int i = 0; i < 3; i++) far += std::pow(p.local.t[i][0] - ball.centre[i], 2.0f);
                ball.radius = std::max(ball.radius, std::sqrt(far) + p.outer + SLACK);
            }
    }
    std::vector<int> sizes(n + 1);
    for (const Piece& p : k->pieces) sizes[p.link + 1]++;
    for (int j = 0; j < count; j++)
        for (int a = 0; a < n; a++) {
            int b = k->pieces[j].link;
            if (a == b || (b >= 0 && std::make_pair(sizes[a + 1], a) < std::make_pair(sizes[b + 1], b))) continue;
            Near near{a, j, {}};
            for (int i = 0; i < count; i++)
                if (k->pieces[i].link == a && collide[k->pieces[i].geom * geoms + k->pieces[j].geom]) near.pieces.push_back(i);
            if (!near.pieces.empty()) k->nears.push_back(near);
        }
    return k;
}

void kernel_delete(Kernel* k) { delete k; }

// Set the least distances of pairs of geoms and, unless `box` is null, where a point of the last link must stay.
void kernel_rules(Kernel* k, const double* least, const double* box, const double* tip) {
    k->least.assign(least, least + k->geoms * k->geoms);
    k->widest = std::max(0.0f, *std::max_element(k->least.begin(), k->least.end())) + 2 * SLACK;
    k->bounded = box != nullptr;
    for (int i = 0; i < 3 && box; i++) k->low[i] = box[i], k->high[i] = box[3 + i], k->tip[i] = tip[i];
}

// For each configuration of a path: 0 proven free, 1 open, 2 proven to be barred.
void kernel_states(Kernel* k, const double* path, int count, int8_t* states) {
    for (int first = 0; first < count; first += W) {
        V q[16];
        for (int lane = 0; lane < W; lane++)
            for (int i = 0; i < k->n; i++) q[i][lane] = float(path[std::min(first + lane, count - 1) * k->n + i]);
        M hit, open;
        k->classify(q, hit, open, false);
        for (int lane = 0; lane < W && first + lane < count; lane++) states[first + lane] = hit[lane] ? 2 : open[lane] ? 1 : 0;
    }
}

// Find a path from q[0] to one of the goals q[1...]; return its number of configurations, 0 for none.
int kernel_path(Kernel* k, const double* q, int goals, const double* box, double range, double step, long checks, int tries,
                uint64_t seed, Ask ask, double* asked, double* found, int room) {
    k->ask = ask, k->asked = asked, k->step = step, k->checks = 0, k->stopped = false, k->seed = seed;
    Tree a{{q, q + k->n}, {-1}}, b{{q + k->n, q + (1 + goals) * k->n}, std::vector<int>(goals, -1)};
    std::vector<std::vector<double>> path;
    if (!k->search(a, b, box, box + k->n, range, checks, path)) return 0;
    k->shorten(path, tries);
    if (k->stopped || int(path.size()) > room) return 0;
    for (size_t i = 0; i < path.size(); i++) std::copy(path[i].begin(), path[i].end(), found + i * k->n);
    return int(path.size());
}
}
